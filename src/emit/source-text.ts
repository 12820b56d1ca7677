import { printable, printableJsonLine } from "../common/printable.ts";
import { HALVES, UNPRINTABLE, writtenOut } from "../common/unsafe-characters.ts";

/** A data value that becomes a frozen literal. */
type Value = string | number | boolean | readonly unknown[] | object;

/** The most characters of a line that holds a whole object or array. */
const LINE = 100;

/**
 * Plain data as a TypeScript literal, each object and array frozen.
 *
 * @param depth - how far the literal is indented
 */
export function literal(value: Value, depth: number): string {
  if (typeof value !== "object") return printableJsonLine(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, depth + 1))
    : Object.entries(value).map(
        ([key, item]) => `${propertyKey(key)}: ${literal(item, depth + 1)}`,
      );
  const padding = open === "{" && items.length > 0 ? " " : "";
  const line = `Object.freeze(${open}${padding}${items.join(", ")}${padding}${close})`;
  if (depth * 2 + line.length <= LINE && !line.includes("\n")) return line;
  const inner = "  ".repeat(depth + 1);
  const lines = items.map((item) => `${inner}${item},\n`).join("");
  return `Object.freeze(${open}\n${lines}${"  ".repeat(depth)}${close})`;
}

/** A name as an object literal has it; `__proto__` in brackets, since it would set the prototype. */
export function propertyKey(name: string): string {
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : printableJsonLine(name);
}

/** A name of the input on one line of a comment of either kind, which it does not end. */
export function commentText(name: string): string {
  return withoutEnd(printable(name));
}

/** A comment of the input as the lines of a block comment, which they do not end. */
export function commentLines(comment: string): string[] {
  return comment.split(LINE_END).map((line) => withoutEnd(line.replace(HIDDEN, writtenOut)));
}

const LINE_END = /\r\n?|[\n\u2028\u2029]/;
/** What hides or turns text; comments may hold tabs, and the marks that scripts need. */
const HIDDEN = new RegExp(`(?!\\t)[${UNPRINTABLE}${HALVES}]`, "gu");

function withoutEnd(text: string): string {
  return text.replaceAll("*/", "*\\/");
}

/** The name, made unique with a `$`, which no protobuf identifier holds. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  while (taken.has(unique)) unique += "$";
  taken.add(unique);
  return unique;
}
