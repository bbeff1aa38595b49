import { type Arena, currentArena } from '../kernels/arena.js';
import { watchDoors } from './lent-columns.js';

/**
 * Columns for results in the arena of loaded series, where kernels can write them at once. As with other large columns
 * (`lent-columns.ts`) a result is a view of one, which is watched: when the view has been collected, or a run names its
 * result for `reuse`, the room is free. Rooms last as long as their arena.
 */
interface Room {
  readonly column: Float64Array;
  view: WeakRef<Float64Array> | undefined;
  /** By the run that goes on, which has not handed it out yet. */
  isTaken: boolean;
}

const roomsOf = new WeakMap<Arena, Room[]>();

/** To be called where a run begins: what one that failed had taken is free again. */
export function beginRooms(): void {
  for (const room of roomsOf.get(currentArena()) ?? []) room.isTaken = false;
}

/** Room for so many entries, whatever they are at first; undefined where the arena has none left. */
export function takeRoom(length: number): Float64Array | undefined {
  const arena = currentArena();
  const rooms = roomsOf.get(arena) ?? [];
  roomsOf.set(arena, rooms);
  let room = rooms.find(({ column, view, isTaken }) => {
    return !isTaken && column.length >= length && column.length <= 4 * length && view?.deref() === undefined;
  });
  if (room === undefined) {
    const column = arena.takeColumn(length);
    if (column === undefined) return undefined;
    room = { column, view: undefined, isTaken: true };
    rooms.push(room);
  }
  room.view = undefined;
  room.isTaken = true;
  return room.column;
}

/** Whether a column is a room of the arena in work. */
export function isRoom(column: Float64Array): boolean {
  const arena = currentArena();
  return column.buffer === arena.buffer && (roomsOf.get(arena) ?? []).some((room) => room.column === column);
}

/** The first `count` entries of a room as a result. */
export function lendRoom(column: Float64Array, count: number): Float64Array {
  const rooms = roomsOf.get(currentArena()) ?? [];
  const room = rooms.find((one) => one.column === column);
  if (room === undefined) throw new Error('assertion failed: the column of a result is no room');
  room.isTaken = false;
  // A small result should not hold a large room.
  if (count * 4 < column.length) return column.slice(0, count);
  const view = column.subarray(0, count);
  room.view = new WeakRef(view);
  watchDoors(view, () => {
    const index = rooms.indexOf(room);
    if (index >= 0) rooms.splice(index, 1);
  });
  return view;
}

/** Whether a column is a result that was handed out of a room. */
export function isLentRoom(view: Float64Array): boolean {
  return lentRoom(view) !== undefined;
}

/** Frees the room behind a result that nobody needs any more; whether there was one. */
export function freeRoom(view: Float64Array): boolean {
  const room = lentRoom(view);
  if (room !== undefined) room.view = undefined;
  return room !== undefined;
}

function lentRoom(view: Float64Array): Room | undefined {
  return roomsOf.get(currentArena())?.find((one) => one.view?.deref() === view);
}
