/**
 * What is wrong with a URL that the service is to be known by (an issuer of RFC 8414, section 2).
 *
 * @returns the end of a sentence; undefined where it will do.
 */
export function publicUrlFault(text: string): string | undefined {
  const received = `received ${JSON.stringify(text)}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  // What a URL takes and changes on its way would stand in the metadata as it was written.
  if (url === undefined || !isWeb || /[\s\\]/.test(text) || !/^https?:\/\//i.test(text)) {
    return `expected a URL such as https://ts.example.com, ${received}`;
  }
  if (url.username !== '' || url.password !== '') return 'expected a URL without a user and a password in it';
  return /[?#]/.test(text) ? `expected a URL without a query and a fragment, ${received}` : undefined;
}
