import { expect, it } from 'vitest';
import { escapeXml } from '../../src/plot/drawing.js';

it('names in a picture are XML, whatever their characters', () => {
  expect(escapeXml('a < b & "c" > d')).toBe('a &lt; b &amp; &quot;c&quot; &gt; d');
  // Control characters, halves of letters, and what is no character; a whole letter of two halves stays.
  expect(escapeXml('\u0000\u001b\ud800\udc00x\ud800\ufffe')).toBe('\ufffd\ufffd\u{10000}x\ufffd\ufffd');
  expect(escapeXml('a\tb\nc')).toBe('a\tb\nc');
});
