import { WindrowError } from '../../core/errors.js';
import type { Io } from '../terminal/io.js';
import { openTarget } from './target.js';
import type { TempFiles } from './temp-files.js';

/** The target of a drawing: PNG if the file's name ends in .png, else SVG. */
export interface Picture {
  readonly write: (svg: string) => Promise<void>;
  /** Makes it appear. */
  readonly keep: () => void;
}

/** Extensions of picture formats that windrow does not write; an SVG of such a name would mislead. */
const OTHERS = /\.(jpe?g|gif|webp|avif|bmp|tiff?|pdf|eps|ps)$/i;

/** Opens a path for a drawing before the work starts, so that a bad path is reported at once. */
export async function openPicture(flag: string, path: string, io: Io, temps: TempFiles): Promise<Picture> {
  const other = OTHERS.exec(path)?.[0];
  if (other !== undefined) {
    throw new WindrowError('arguments', `${flag}: expected a name that ends in .svg or .png, received ${path}`);
  }
  const toBytes = await encoderOf(path);
  const target = await openTarget(path, io, temps);
  return { write: (svg) => target.write(toBytes(svg)), keep: target.keep };
}

async function encoderOf(path: string): Promise<(svg: string) => Uint8Array> {
  if (!/\.png$/i.test(path)) return (svg) => new TextEncoder().encode(svg);
  const { openPng } = await import('../../plot/png.js');
  return openPng();
}
