import type { Plan } from '../../plan/plan.js';
import type { BlankMember } from '../fleet/blank-member.js';
import type { MemberStates } from '../fleet/member-states.js';
import type { Graph } from '../graph/graph.js';
import type { RunSettings } from '../options.js';
import { createWriter, openCheckpoint } from './bytes.js';
import { readCounts, writeCounts } from './stream-checkpoint.js';

/** What a fleet remembers, besides its settings. */
export interface FleetMemory {
  readonly graph: Graph;
  readonly states: MemberStates;
  readonly names: readonly string[];
  readonly progress: { advancedMs: number };
  readonly blank: BlankMember;
  /** Adds a member to be restored and returns its number. */
  readonly add: (name: string) => number;
}

const STATE_BYTES_USUAL = 100;

/** A checkpoint of a fleet: its advance, the counts of the graph, the blank member, then the name and state of each. */
export function writeFleetCheckpoint(plan: Plan, settings: RunSettings, memory: FleetMemory): Uint8Array {
  const { graph, states, names, progress, blank } = memory;
  const { add, finish } = createWriter('WRFC', plan, settings, 1024 + STATE_BYTES_USUAL * states.count);
  add(progress.advancedMs);
  writeCounts(graph, add);
  blank.write(add);
  add(states.count);
  for (const [member, name] of names.entries()) {
    add(name.length);
    for (let i = 0; i < name.length; i++) add(name.charCodeAt(i));
    states.write(member, add);
  }
  return finish();
}

/** Puts a checkpoint into a new fleet. @throws CheckpointError */
export function readFleetCheckpoint(bytes: Uint8Array, plan: Plan, settings: RunSettings, memory: FleetMemory): void {
  const next = openCheckpoint('WRFC', bytes, plan, settings);
  memory.progress.advancedMs = next();
  readCounts(memory.graph, next);
  memory.blank.read(next);
  for (let count = next(); count > 0; count--) memory.states.read(memory.add(readName(next)), next);
}

const PIECE_LENGTH = 1000;

// In pieces, not letter by letter: V8 keeps a concatenated text as a tree of its parts.
function readName(next: () => number): string {
  let name = '';
  for (let left = next(); left > 0; left -= PIECE_LENGTH) {
    const units: number[] = [];
    for (let i = Math.min(left, PIECE_LENGTH); i > 0; i--) units.push(next());
    name += String.fromCharCode(...units);
  }
  return name;
}
