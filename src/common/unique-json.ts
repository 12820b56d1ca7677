import { scanJson } from "./scan-json.ts";

/**
 * Parses JSON and rejects objects with a duplicate key: parsers differ in which value
 * they keep.
 *
 * @throws SyntaxError if it is not JSON or has a duplicate key
 */
export function parseUniqueJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (scanJson(Buffer.from(text)).colons !== countKeys(value)) {
    throw new SyntaxError("a key occurs twice");
  }
  return value;
}

/** Without recursion: the nesting of a token is limited only by its length. */
function countKeys(value: unknown): number {
  const rest = [value];
  let keys = 0;
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next !== "object" || next === null) continue;
    const items = Object.values(next);
    if (!Array.isArray(next)) keys += items.length;
    for (const item of items) rest.push(item);
  }
  return keys;
}
