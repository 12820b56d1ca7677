import { printable, printableJsonLine } from "../common/printable.ts";
import { HALVES, UNPRINTABLE, writtenOut } from "../common/unsafe-characters.ts";
import { COLUMNS } from "./source-layout.ts";

/** A data value that becomes a literal. */
type Value = string | number | boolean | readonly unknown[] | object;

/** How a literal stands in its file. */
interface LiteralPlace {
  /** How far the lines after the first one are indented, in steps. */
  readonly depth: number;
  /** The columns that are taken before it; absent, its indentation. */
  readonly before?: number;
  /** Whether each of its items has lines of its own, also where all would fit on one. */
  readonly isOpen?: boolean;
}

/** Plain data as a TypeScript literal: on one line where it fits, else an item a line. */
export function literal(value: Value, { depth, before = 2 * depth, isOpen }: LiteralPlace): string {
  if (typeof value !== "object") return printableJsonLine(value);
  const isArray = Array.isArray(value);
  const entries = Object.entries(value);
  // A comma or a semicolon follows.
  const line = isOpen && entries.length > 0 ? undefined : onOneLine(value, COLUMNS - before - 1);
  if (line !== undefined) return line;
  const inner = "  ".repeat(depth + 1);
  const lines = entries.map(([key, item]) => {
    const name = isArray ? "" : `${propertyKey(key)}: `;
    const text = literal(item, { depth: depth + 1, before: inner.length + name.length });
    const isLong = inner.length + name.length + text.length >= COLUMNS;
    if (isLong && name !== "" && typeof item !== "object") {
      return `${inner}${name.trimEnd()}\n${inner}  ${text},\n`;
    }
    return `${inner}${name}${text},\n`;
  });
  const [open, close] = isArray ? ["[", "]"] : ["{", "}"];
  return `${open}\n${lines.join("")}${"  ".repeat(depth)}${close}`;
}

/** The literal on one line, where that has at most so many characters. */
function onOneLine(value: Value, most: number): string | undefined {
  if (typeof value !== "object") {
    const text = printableJsonLine(value);
    return text.length <= most ? text : undefined;
  }
  const isArray = Array.isArray(value);
  const items: string[] = [];
  let left = most;
  for (const [key, item] of Object.entries(value)) {
    const name = isArray ? "" : `${propertyKey(key)}: `;
    const text = onOneLine(item, left - name.length);
    if (text === undefined) return undefined;
    items.push(name + text);
    left -= name.length + text.length + ", ".length;
  }
  const padding = isArray || items.length === 0 ? "" : " ";
  const [open, close] = isArray ? ["[", "]"] : ["{", "}"];
  const line = `${open}${padding}${items.join(", ")}${padding}${close}`;
  return line.length <= most ? line : undefined;
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
