// The parts of Markdown that tests of the pages read: code blocks, links and headings.

const FENCED = /^```[\s\S]*?^```$/gm;

/** A fenced block of code. */
export interface CodeBlock {
  /** The word after the fence: `ts`, `console`, or nothing. */
  readonly language: string;
  readonly text: string;
  /** The line of the fence, counted from 1. */
  readonly line: number;
}

/** The code blocks of a page, in order. */
export function codeBlocks(markdown: string): CodeBlock[] {
  const lines = markdown.split('\n');
  const blocks: CodeBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\w*)$/.exec(lines[at]!)?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`the block of line ${at + 1} is never closed`);
    blocks.push({ language, text: lines.slice(at + 1, end).join('\n'), line: at + 1 });
    at = end;
  }
  return blocks;
}

/** The targets of all links and images of a page, outside its code. */
export function linksOf(markdown: string): string[] {
  const prose = markdown.replace(FENCED, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
}

/** The anchors of a page's headings, as GitHub names them. */
export function anchorsOf(markdown: string): string[] {
  const prose = markdown.replace(FENCED, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

/** Whether a text matches the one shown: `…` stands for any characters, or alone on a line for any lines. */
export function isAsShown(text: string, shown: string): boolean {
  const literally = (part: string): string => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const lines = shown.trimEnd().split('\n');
  const pattern = lines.map((line) =>
    line === '…' ? '(?:.*\n)*' : `${line.split('…').map(literally).join('.*')} *\n`,
  );
  return new RegExp(`^${pattern.join('')}$`).test(`${text.trimEnd()}\n`);
}
