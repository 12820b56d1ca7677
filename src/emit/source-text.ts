import Handlebars from "handlebars/runtime.js";
import {
  HALVES,
  printable,
  printableJsonLine,
  UNPRINTABLE,
  writtenOut,
} from "../common/printable.ts";
import { TEMPLATES } from "../gen/templates.ts";
import { COLUMNS } from "./source-layout.ts";

/** A value that can become a literal. */
type Value = string | number | boolean | readonly unknown[] | object;

/** The position and layout of a literal in its file. */
interface LiteralPlace {
  /** The indentation of the lines after the first one, in steps. */
  readonly depth: number;
  /** The number of columns before it; the default is its indentation. */
  readonly before?: number;
  /** Whether each item is on its own lines, even if all would fit on one. */
  readonly isOpen?: boolean;
}

/** Plain data as a TypeScript literal: on one line if it fits, else with one item per line. */
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

/** The literal on one line; undefined if that is too long. */
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

/** A name as a key of an object literal; `__proto__` in brackets, since it would set the prototype. */
export function propertyKey(name: string): string {
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : printableJsonLine(name);
}

/** A name from the input for a line of a comment, which it cannot end. */
export function commentText(name: string): string {
  return withoutEnd(printable(name));
}

/** A comment from the input as lines of a block comment, which they cannot end. */
export function commentLines(comment: string): string[] {
  return comment.split(LINE_END).map((line) => withoutEnd(line.replace(HIDDEN, writtenOut)));
}

const LINE_END = /\r\n?|[\n\u2028\u2029]/;
/** Characters that hide text or change its direction; tabs and the marks that some scripts need are allowed. */
const HIDDEN = new RegExp(`(?!\\t)[${UNPRINTABLE}${HALVES}]`, "gu");

function withoutEnd(text: string): string {
  return text.replaceAll("*/", "*\\/");
}

/** The name, made unique with a `$`, which protobuf identifiers cannot contain. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  while (taken.has(unique)) unique += "$";
  taken.add(unique);
  return unique;
}

/** Renders data with a template of `templates/`. */
export type Template = (data: object) => string;

/** The source of a file's policies. */
export const accessTemplate: Template = compiled("access.ts");

/** The source of the routes for clients of a file's services. */
export const clientTemplate: Template = compiled("client.ts");

/** The body of a file's server stubs. */
export const serverTemplate: Template = compiled("server.ts");

// The types of Handlebars do not include its runtime.
const runtime = Handlebars as unknown as { template(specification: unknown): Template };

/** Templates are compiled when this package is built, so that plugins start fast. */
function compiled(name: keyof typeof TEMPLATES): Template {
  let template: Template | undefined;
  return (data) => {
    template ??= runtime.template(TEMPLATES[name]);
    return template(data);
  };
}
