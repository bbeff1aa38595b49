interface TypedArrays {
  readonly Float64Array: Float64Array;
  readonly Uint8Array: Uint8Array;
  readonly Uint32Array: Uint32Array;
}

/**
 * Whether a value is a typed array of this kind. Those of another realm count too, such as an iframe or a test runner's
 * environment; `instanceof` would deny them.
 */
export function isTyped<Kind extends keyof TypedArrays>(value: unknown, kind: Kind): value is TypedArrays[Kind] {
  // `as`: any value but these two may be asked for a property.
  return (value as Partial<TypedArrays[Kind]> | null | undefined)?.[Symbol.toStringTag] === kind;
}
