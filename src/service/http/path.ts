/** The path of a URL: what is after it may be private. */
export function pathOf(url: string): string {
  return url.replace(/\?.*$/s, '');
}
