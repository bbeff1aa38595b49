import { isDeepStrictEqual } from 'node:util';

/**
 * A part of an OpenAPI document in which each schema with a title is a reference to the component of that name:
 * generators of clients name types by it, and make one type of a schema that several operations share. An object
 * without properties stands for the component of its title.
 *
 * @param components the component schemas, to which those with a title are added.
 */
export function nameSchemas<Part>(part: Part, components: Record<string, unknown>): Part;
export function nameSchemas(part: unknown, components: Record<string, unknown>): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map((one) => nameSchemas(one, components));
  const fields = Object.entries(part).map(([name, value]) => [name, nameSchemas(value, components)] as const);
  const { title, ...schema } = Object.fromEntries(fields);
  if (typeof title !== 'string') return Object.fromEntries(fields);
  const known = components[title] ?? schema;
  if (!isAnyObject(schema) && !isDeepStrictEqual(known, schema)) {
    throw new Error(`assertion failed: two schemas have the title ${title}`);
  }
  components[title] = known;
  return { $ref: `#/components/schemas/${title}` };
}

function isAnyObject({ properties }: { readonly properties?: object }): boolean {
  return properties !== undefined && Object.keys(properties).length === 0;
}
