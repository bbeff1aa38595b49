import { expect, it } from 'vitest';
import { publicUrlFault } from '../../src/service/settings.js';
import { openService } from './open-service.js';
import { silentLog } from './silent-log.js';

it.each([
  'https://ts.example.com',
  'https://ts.example.com/',
  'http://10.0.0.1:8090',
  'https://example.com/ts/',
  'http://[::1]',
])('%s can be the public URL', (text) => {
  expect(publicUrlFault(text)).toBeUndefined();
});

it.each([
  ['ts.example.com', 'expected a URL such as https://ts.example.com, received "ts.example.com"'],
  ['', 'expected a URL such as https://ts.example.com, received ""'],
  ['https:ts.example.com', 'expected a URL such as '],
  ['https://', 'expected a URL such as '],
  [' https://ts.example.com', 'expected a URL such as '],
  ['https://ts.example.com/a b', 'expected a URL such as '],
  ['https:\\\\ts.example.com', 'expected a URL such as '],
  ['ftp://ts.example.com', 'expected a URL such as '],
  ['https://ts.example.com/?a=1', 'expected a URL without a query and a fragment, received "https://'],
  ['https://ts.example.com/#', 'expected a URL without a query and a fragment, '],
  ['https://zoe:fjord@ts.example.com', 'expected a URL without a user and a password in it'],
])('RFC 8414, section 2: %j cannot be an issuer', (text, fault) => {
  expect(publicUrlFault(text)).toContain(fault);
});

it('the setting publicUrl is checked before the store is opened', async () => {
  const opened = openService({ dataDirectory: '/proc/none', settings: { publicUrl: 'example.com' } }, silentLog);
  await expect(opened).rejects.toThrow(
    'publicUrl: expected a URL such as https://ts.example.com, received "example.com"',
  );
});
