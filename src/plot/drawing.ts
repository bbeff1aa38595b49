import { styleSheet } from './style.js';

/** What all SVG drawings share: the frame, texts that fit, and escaping. */

/** The most that letters take in DejaVu Sans of 12 pixels, which is wider than most fonts. The first match counts. */
const LETTER_WIDTHS: readonly (readonly [letters: RegExp, width: number])[] = [
  [/[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60]|\p{Extended_Pictographic}/u, 12.5],
  [/[mwMW@%—…]/, 12],
  [/[ijlrtfIJ .,:;'"|!()[\]/\\-]/, 5.5],
  [/[+=<>~^#&×]|\p{Lu}/u, 10.1],
];
const USUAL_WIDTH = 7.7;

/** About how wide a text is at most, in pixels. */
export function textWidth(content: string): number {
  const widthOf = (letter: string): number =>
    LETTER_WIDTHS.find(([letters]) => letters.test(letter))?.[1] ?? USUAL_WIDTH;
  return Array.from(content).reduce((sum, letter) => sum + widthOf(letter), 0);
}

/** Shortens a text to a width: `…` replaces its middle, because names differ at either end. */
export function fitted(content: string, width: number): string {
  if (textWidth(content) <= width) return content;
  const letters = Array.from(content);
  for (let kept = letters.length - 1; kept > 1; kept--) {
    const start = Math.ceil(kept / 2);
    const short = [...letters.slice(0, start), '\u2026', ...letters.slice(letters.length - (kept - start))].join('');
    if (textWidth(short) <= width) return short;
  }
  return '\u2026';
}

export interface Page {
  readonly width: number;
  readonly height: number;
  readonly label: string;
  /** A description for screen readers. */
  readonly summary: string;
  /** CSS in addition to the style of all drawings. */
  readonly style?: string;
}

export function wrapSvg(body: readonly string[], { width, height, label, summary, style = '' }: Page): string {
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escapeXml(label)}">`,
    `<title>${escapeXml(label)}</title>`,
    `<desc>${escapeXml(summary)}</desc>`,
    `<style>${styleSheet()}${style}</style>`,
    `<rect class="background" width="${width}" height="${height}" rx="6"/>`,
    ...body.filter((part) => part !== ''),
    '</svg>',
    '',
  ].join('\n');
}

export function pixel(length: number): string {
  return String(Math.round(length * 10) / 10);
}

export function text(className: string, x: number, y: number, content: string): string {
  const ofClass = className === '' ? '' : ` class="${className}"`;
  return `<text${ofClass} x="${pixel(x)}" y="${pixel(y)}">${escapeXml(content)}</text>`;
}

/** As XML 1.0 takes it: it allows no control characters and halves of letters, not even escaped. */
export function escapeXml(content: string): string {
  const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  const plain = content.replace(/[^\P{Cc}\t\n\r]|[\p{Cs}\ufffe\uffff]/gu, '\ufffd');
  return plain.replace(/[&<>"]/g, (letter) => escapes[letter] ?? letter);
}
