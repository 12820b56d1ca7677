import { scanJson } from "./scan-json.ts";

/**
 * Reads JSON in which no object has a key twice: readers differ in which of the two
 * they take.
 *
 * @throws SyntaxError where it is not such JSON
 */
export function parseUniqueJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (scanJson(Buffer.from(text)).colons !== countKeys(value)) {
    throw new SyntaxError("a key occurs twice");
  }
  return value;
}

/** Without recursion: a token may nest as deep as it is long. */
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
