import { once } from "node:events";

/** How the result of a command is printed. */
export type Format = "text" | "json";

/** Characters that a terminal would act on, or that change the direction of text. */
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text of others on one line, safe for a terminal: other characters are escaped. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Text of others as a part of a message: line breaks are spaces, and what a terminal would act on is escaped. */
export function oneLine(text: string): string {
  return printable(text.replace(/[\n\r\u2028\u2029]\s*/g, " "));
}

/** Writes a line of the result, and waits for a slow reader. */
export async function printLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}

/** Writes a value as one line of JSON, safe for a terminal. */
export async function printJson(value: unknown): Promise<void> {
  // All of it but line breaks can only be within strings, where it may be escaped.
  await printLine(printable(JSON.stringify(value)));
}

/** A column of a table: its heading, and the text of an item. */
export type Column<Item> = readonly [heading: string, text: (item: Item) => string];

/** The lines of a table with aligned columns; the last one is as long as it is. */
export function tableOf<Item>(items: readonly Item[], columns: readonly Column<Item>[]): string[] {
  return new Table(columns).linesOf(items);
}

/** A table that is printed part by part: columns get wider, where a later part needs it. */
export class Table<Item> {
  readonly #columns: readonly Column<Item>[];
  #widths: readonly number[] | undefined;

  constructor(columns: readonly Column<Item>[]) {
    this.#columns = columns;
  }

  /** The lines of the next items, after that of the headings where these are the first; none without items. */
  linesOf(items: readonly Item[]): string[] {
    if (items.length === 0) return [];
    const columns = this.#columns;
    const headings = this.#widths === undefined ? [columns.map(([heading]) => heading)] : [];
    const rows = [
      ...headings,
      ...items.map((item) => columns.map(([, text]) => printable(text(item)) || "-")),
    ];
    const widths = columns.map((_, index) =>
      rows.reduce(
        (width, row) => Math.max(width, row[index]?.length ?? 0),
        this.#widths?.[index] ?? 0,
      ),
    );
    this.#widths = widths;
    return rows.map((row) =>
      row
        .map((text, index) => (index === row.length - 1 ? text : text.padEnd(widths[index] ?? 0)))
        .join("  "),
    );
  }
}
