import type { ServiceClient } from './api.js';

/** A state that a part of the panel changes. */
export type StateOf<Value> = readonly [value: Value, change: (value: Value) => void];

/** The properties that each part of the service panel has. */
export interface PartProps {
  readonly client: ServiceClient;
  readonly onSignedOut: () => void;
}
