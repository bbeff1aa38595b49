const POLYNOMIAL = 0xedb88320;

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ POLYNOMIAL;
  return rest;
});

/** The CRC32 of gzip (RFC 1952), as a signed integer. Browsers have none. */
export function crc32(bytes: Uint8Array): number {
  let rest = -1;
  for (let i = 0; i < bytes.length; i++) rest = table[(rest ^ bytes[i]!) & 255]! ^ (rest >>> 8);
  return ~rest;
}
