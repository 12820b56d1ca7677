import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { type Column, type Format, printable, printJson, printLine, tableOf } from "./print.ts";
import { say } from "./run-command.ts";

/** How messages of one type are shown. */
export interface Shown<Schema extends DescMessage> {
  readonly schema: Schema;
  readonly columns: readonly Column<MessageShape<Schema>>[];
  /** What one is, and several are: for people. */
  readonly name: readonly [one: string, several: string];
}

/** A list of messages. */
export interface Listed<Item> {
  readonly items: readonly Item[];
  /** Whether there are more, which the limit leaves out. */
  readonly hasMore: boolean;
}

/** Prints a list: a table, or a JSON array on one line. */
export async function printList<Schema extends DescMessage>(
  { schema, columns, name: [one, several] }: Shown<Schema>,
  { items, hasMore }: Listed<MessageShape<Schema>>,
  format: Format,
): Promise<void> {
  if (format === "json") await printJson(items.map((item) => toJson(schema, item)));
  else if (items.length === 0) say(`no ${several}`);
  else for (const line of tableOf(items, columns)) await printLine(line);
  if (hasMore) {
    const count = items.length;
    say(`the first ${count} ${count === 1 ? one : several}; --limit shows more`);
  }
}

/** Prints one message: a line for each field that is set, or JSON. */
export async function printMessage<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
  format: Format,
): Promise<void> {
  const json = toJson(schema, message) as Readonly<Record<string, unknown>>;
  if (format === "json") return printJson(json);
  const entries = Object.entries(json);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  for (const [name, value] of entries) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    await printLine(`${name.padEnd(width)}  ${printable(text)}`);
  }
}

/** Prints what a command has done: a sentence for people, or the message in JSON. */
export async function printDone<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
  sentence: string,
  format: Format,
): Promise<void> {
  if (format === "json") await printJson(toJson(schema, message));
  else say(sentence);
}
