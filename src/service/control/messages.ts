import type { ErrorCode } from '../../core/errors.js';
import type { Administration } from '../identity/administration.js';

/** What the command asks of the process that holds the store: a function of `Administration`, and its argument. */
export interface ControlRequest {
  readonly command: keyof Administration;
  readonly parameters: unknown;
}

export type ControlAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } };

/** The functions that can be asked for. */
export const controlCommands: readonly (keyof Administration)[] = [
  'addClient',
  'listClients',
  'removeClient',
  'addUser',
  'listUsers',
  'removeUser',
  'addCollection',
  'listCollections',
  'removeCollection',
];
