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
/** The room for an edge that passes through a layer. */
const DUMMY_WIDTH = 10;
const SWEEPS = 4;
/** More nodes than that side by side are too wide to read. */
const LAYER_NODES_MAX = 5;

/** A node of a layer: one of the graph, or a dummy node where an edge passes through the layer. */
interface Vertex {
  readonly width: number;
  readonly above: Vertex[];
  readonly below: Vertex[];
  /** Of a dummy node: the height of its layer. */
  height: number;
  x: number;
  y: number;
}

/**
 * Lays nodes out in layers, each below all nodes that lead to it, with few crossings: sweeps order the vertices of
 * each layer by the mean position of their neighbours.
 *
 * Source: Sugiyama, Tagawa, Toda, "Methods for Visual Understanding of Hierarchical System Structures", 1981.
 */
export function layOut(nodes: readonly LayoutNode[], margin: number): Layout {
  const { layers, vertices, paths } = layersOf(nodes);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const layer of layers) order(layer, ({ above }) => above);
    for (const layer of [...layers].reverse()) order(layer, ({ below }) => below);
  }
  const width = 2 * margin + Math.max(...layers.map(widthOf));
  let y = margin;
  for (const layer of layers) {
    place(layer, width);
    const layerHeight = Math.max(...layer.map(({ height }) => height));
    for (const vertex of layer) {
      vertex.y = y;
      if (vertex.height === 0) vertex.height = layerHeight;
    }
    y += layerHeight + GAP_Y;
  }
  return {
    nodes: vertices.map(({ x, y: top }) => ({ x, y: top })),
    edges: paths.map(pathThrough),
    width,
    height: y - GAP_Y + margin,
  };
}

function layersOf(nodes: readonly LayoutNode[]) {
  const depths = depthsOf(nodes);
  const layers: Vertex[][] = Array.from({ length: 1 + Math.max(...depths) }, () => []);
  const vertexIn = (depth: number, width: number, height: number): Vertex => {
    const vertex: Vertex = { width, height, above: [], below: [], x: 0, y: 0 };
    layers[depth]!.push(vertex);
    return vertex;
  };
  const vertices = nodes.map(({ width, height }, index) => vertexIn(depths[index]!, width, height));
  const paths = nodes.flatMap(({ above }, index) =>
    [...new Set(above)].map((from) => {
      const path = [vertices[from]!];
      for (let depth = depths[from]! + 1; depth < depths[index]!; depth++) path.push(vertexIn(depth, DUMMY_WIDTH, 0));
      path.push(vertices[index]!);
      for (const [at, vertex] of path.entries()) {
        if (at === 0) continue;
        vertex.above.push(path[at - 1]!);
        path[at - 1]!.below.push(vertex);
      }
      return path;
    }),
  );
  for (const layer of layers) place(layer, 0);
  return { layers, vertices, paths };
}

/**
 * The layer of each node: the first one with room below all nodes that lead to it. A node that nothing leads to is
 * placed just before the first node below it, so that unconnected parts fill layers one part after the other.
 */
function depthsOf(nodes: readonly LayoutNode[]): number[] {
  const depths: number[] = [];
  const counts: number[] = [];
  const settle = (at: number): number => {
    const found = depths[at];
    if (found !== undefined) return found;
    let depth = 1 + Math.max(-1, ...nodes[at]!.above.map(settle));
    while ((counts[depth] ?? 0) >= LAYER_NODES_MAX) depth++;
    counts[depth] = (counts[depth] ?? 0) + 1;
    depths[at] = depth;
    return depth;
  };
  for (const [at, { above }] of nodes.entries()) {
    if (above.length > 0) settle(at);
  }
  for (const at of nodes.keys()) settle(at);
  return depths;
}

function widthOf(layer: readonly Vertex[]): number {
  return layer.reduce((sum, { width }) => sum + width + GAP_X, -GAP_X);
}

/** Places the vertices of a layer side by side, centred in a width. */
function place(layer: readonly Vertex[], width: number): void {
  let x = (width - widthOf(layer)) / 2;
  for (const vertex of layer) {
    vertex.x = x;
    x += vertex.width + GAP_X;
  }
}

function order(layer: Vertex[], neighbours: (vertex: Vertex) => readonly Vertex[]): void {
  const middle = ({ x, width }: Vertex): number => x + width / 2;
  const wanted = new Map(
    layer.map((vertex) => {
      const around = neighbours(vertex);
      return [
        vertex,
        around.length === 0 ? middle(vertex) : around.reduce((sum, one) => sum + middle(one), 0) / around.length,
      ];
    }),
  );
  layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
  place(layer, 0);
}

// From the bottom of a node, straight through dummy nodes, to the top of the next. Edges spread along both sides.
function pathThrough(path: readonly Vertex[]): Placed[] {
  const last = path.length - 1;
  const spread = (vertex: Vertex, side: readonly Vertex[], other: Vertex): number => {
    const sorted = [...side].sort((a, b) => a.x - b.x);
    return vertex.x + (vertex.width * (sorted.indexOf(other) + 1)) / (sorted.length + 1);
  };
  return path.flatMap((vertex, at) => {
    const bottom = vertex.y + vertex.height;
    if (at === 0) return [{ x: spread(vertex, vertex.below, path[1]!), y: bottom }];
    if (at === last) return [{ x: spread(vertex, vertex.above, path[at - 1]!), y: vertex.y }];
    const x = vertex.x + vertex.width / 2;
    return [
      { x, y: vertex.y },
      { x, y: bottom },
    ];
  });
}
