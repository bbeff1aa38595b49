/** A node of an acyclic graph; each comes after the nodes above it. */
export interface LayoutNode {
  readonly width: number;
  readonly height: number;
  /** The indexes of the nodes that lead to it. */
  readonly above: readonly number[];
}

export interface Placed {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  /** The upper left corner of each node. */
  readonly nodes: readonly Placed[];
  /** The path of each edge from the node above to the one below, around the nodes between them. */
  readonly edges: readonly (readonly Placed[])[];
  readonly width: number;
  readonly height: number;
}

const GAP_X = 24;
const GAP_Y = 46;
/** The width of an edge that passes through a layer. */
const LANE_WIDTH = 10;
const SWEEPS = 4;

/** A place in a layer: a node, or a lane for an edge that passes through. */
interface Slot {
  readonly width: number;
  readonly above: Slot[];
  readonly below: Slot[];
  /** For a lane, the height of its layer. */
  height: number;
  x: number;
  y: number;
}

/**
 * Lays nodes out in layers, each below all nodes that lead to it, with few crossings: sweeps order the slots of each
 * layer by the mean position of their neighbours.
 *
 * Source: Sugiyama, Tagawa, Toda, "Methods for Visual Understanding of Hierarchical System Structures", 1981.
 */
export function layOut(nodes: readonly LayoutNode[], margin: number): Layout {
  const { layers, slots, ways } = layersOf(nodes);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const layer of layers) order(layer, ({ above }) => above);
    for (const layer of [...layers].reverse()) order(layer, ({ below }) => below);
  }
  const width = 2 * margin + Math.max(...layers.map(widthOf));
  let y = margin;
  for (const layer of layers) {
    place(layer, width);
    const layerHeight = Math.max(...layer.map(({ height }) => height));
    for (const slot of layer) {
      slot.y = y;
      if (slot.height === 0) slot.height = layerHeight;
    }
    y += layerHeight + GAP_Y;
  }
  return {
    nodes: slots.map(({ x, y: top }) => ({ x, y: top })),
    edges: ways.map(wayThrough),
    width,
    height: y - GAP_Y + margin,
  };
}

function layersOf(nodes: readonly LayoutNode[]) {
  const depths: number[] = [];
  for (const { above } of nodes) depths.push(1 + Math.max(-1, ...above.map((at) => depths[at]!)));
  const layers: Slot[][] = Array.from({ length: 1 + Math.max(...depths) }, () => []);
  const slotIn = (depth: number, width: number, height: number): Slot => {
    const slot: Slot = { width, height, above: [], below: [], x: 0, y: 0 };
    layers[depth]!.push(slot);
    return slot;
  };
  const slots = nodes.map(({ width, height }, index) => slotIn(depths[index]!, width, height));
  const ways = nodes.flatMap(({ above }, index) =>
    [...new Set(above)].map((from) => {
      const way = [slots[from]!];
      for (let depth = depths[from]! + 1; depth < depths[index]!; depth++) way.push(slotIn(depth, LANE_WIDTH, 0));
      way.push(slots[index]!);
      for (const [at, slot] of way.entries()) {
        if (at === 0) continue;
        slot.above.push(way[at - 1]!);
        way[at - 1]!.below.push(slot);
      }
      return way;
    }),
  );
  for (const layer of layers) place(layer, 0);
  return { layers, slots, ways };
}

function widthOf(layer: readonly Slot[]): number {
  return layer.reduce((sum, { width }) => sum + width + GAP_X, -GAP_X);
}

/** Places slots side by side, centred in a width. */
function place(layer: readonly Slot[], width: number): void {
  let x = (width - widthOf(layer)) / 2;
  for (const slot of layer) {
    slot.x = x;
    x += slot.width + GAP_X;
  }
}

function order(layer: Slot[], neighbours: (slot: Slot) => readonly Slot[]): void {
  const middle = ({ x, width }: Slot): number => x + width / 2;
  const wanted = new Map(
    layer.map((slot) => {
      const around = neighbours(slot);
      return [
        slot,
        around.length === 0 ? middle(slot) : around.reduce((sum, one) => sum + middle(one), 0) / around.length,
      ];
    }),
  );
  layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
  place(layer, 0);
}

// From the bottom of a node straight through lanes to the top of the next. Edges into one node spread along its top.
function wayThrough(way: readonly Slot[]): Placed[] {
  const last = way.length - 1;
  const spread = (slot: Slot, side: readonly Slot[], other: Slot): number => {
    const sorted = [...side].sort((a, b) => a.x - b.x);
    return slot.x + (slot.width * (sorted.indexOf(other) + 1)) / (sorted.length + 1);
  };
  return way.flatMap((slot, at) => {
    const bottom = slot.y + slot.height;
    if (at === 0) return [{ x: spread(slot, slot.below, way[1]!), y: bottom }];
    if (at === last) return [{ x: spread(slot, slot.above, way[at - 1]!), y: slot.y }];
    const x = slot.x + slot.width / 2;
    return [
      { x, y: slot.y },
      { x, y: bottom },
    ];
  });
}
