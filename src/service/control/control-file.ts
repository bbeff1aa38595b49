import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How to speak with the process that holds a store: written into the data directory while it runs. */
export interface ControlFile {
  /** On 127.0.0.1. */
  readonly port: number;
  /** What the caller must know: whoever may read the directory may rule the service. */
  readonly key: string;
  readonly processId: number;
}

const FILE_NAME = 'control.json';

export function writeControlFile(directory: string, control: ControlFile): void {
  const path = join(directory, FILE_NAME);
  const newPath = `${path}.${control.processId}`;
  rmSync(newPath, { force: true });
  // Made with these rights, and whole from the moment that it has its name.
  writeFileSync(newPath, JSON.stringify(control), { mode: 0o600, flag: 'wx' });
  renameSync(newPath, path);
}

/** @returns undefined where there is none, or none that can be understood. */
export function readControlFile(directory: string): ControlFile | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(join(directory, FILE_NAME), 'utf8'));
    return isControlFile(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the file, unless it is another process's by now. */
export function removeControlFile(directory: string, { key }: ControlFile): void {
  if (readControlFile(directory)?.key === key) rmSync(join(directory, FILE_NAME), { force: true });
}

function isControlFile(content: unknown): content is ControlFile {
  if (typeof content !== 'object' || content === null) return false;
  const { port, key, processId } = content as Partial<Record<keyof ControlFile, unknown>>; // checked right below
  return typeof port === 'number' && typeof key === 'string' && typeof processId === 'number';
}
