import { WindrowError } from '../core/errors.js';

/** Renders an SVG drawing as a PNG of twice its size, for screens with two device pixels a CSS pixel. */
export type DrawPng = (svg: string) => Uint8Array;

const SCALE = 2;
const PROBE = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><text x="9" y="15">0</text></svg>';

/**
 * Loads the PNG renderer; called before there is work that a failure would lose.
 *
 * @throws if the package is not installed; WindrowError if it does not work on this machine.
 */
export async function openPng(): Promise<DrawPng> {
  const { Resvg } = await import('@resvg/resvg-js').catch(withoutBinary);
  // Without a font, labels would be left out silently.
  if (new Resvg(PROBE).innerBBox() === undefined) {
    const mend = 'install one (such as the Debian package fonts-dejavu-core), or write an SVG';
    throw new WindrowError('arguments', `no font is installed, so a PNG would have no labels; ${mend}`);
  }
  return (svg) => new Resvg(svg, { fitTo: { mode: 'zoom', value: SCALE } }).render().asPng();
}

// The package is installed, but not its native part for this machine.
function withoutBinary(error: unknown): never {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  if (isMissing) throw error;
  const cause = error instanceof Error ? error.message.split('\n')[0] : String(error);
  throw new WindrowError('arguments', `@resvg/resvg-js, which draws PNG, does not work here (${cause}); write an SVG`);
}
