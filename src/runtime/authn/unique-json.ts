/**
 * Reads JSON in which no object has a key twice: readers differ in which of the two
 * they take.
 *
 * @throws SyntaxError where it is no such JSON
 */
export function parseUniqueJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (hasDuplicateKey(text)) throw new SyntaxError("a key occurs twice");
  return value;
}

/** Of text that is known to be JSON: a string with a colon behind it is a key. */
function hasDuplicateKey(text: string): boolean {
  const open: Set<string>[] = [];
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === "{" || character === "[") open.push(new Set());
    else if (character === "}" || character === "]") open.pop();
    else if (character === '"') {
      const end = endOfString(text, index);
      if (isBeforeColon(text, end)) {
        const keys = open.at(-1) as Set<string>;
        // Two spellings of one key, such as with \u0073, are one key.
        const key = JSON.parse(text.slice(index, end)) as string;
        if (keys.has(key)) return true;
        keys.add(key);
      }
      index = end - 1;
    }
  }
  return false;
}

/** The place behind the string that begins here. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (text[index] !== '"') index += text[index] === "\\" ? 2 : 1;
  return index + 1;
}

function isBeforeColon(text: string, start: number): boolean {
  let index = start;
  while (/[ \t\n\r]/.test(text[index] ?? "")) index++;
  return text[index] === ":";
}
