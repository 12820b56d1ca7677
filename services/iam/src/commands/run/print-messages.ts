import { type DescMessage, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import { type Column, type Format, printable, printJson, printLine, tableOf } from "./print.ts";
import { say } from "./run-command.ts";
import { textOf, wordsOf } from "./words.ts";

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

/** A message as JSON with all its fields, also those that are false, zero or empty: scripts ask for them. */
export function jsonOf<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}

/** Prints a list: a table, or a JSON array on one line. */
export async function printList<Schema extends DescMessage>(
  { schema, columns, name: [one, several] }: Shown<Schema>,
  { items, hasMore }: Listed<MessageShape<Schema>>,
  format: Format,
): Promise<void> {
  if (format === "json") await printJson(items.map((item) => jsonOf(schema, item)));
  else if (items.length === 0) say(`no ${several}`);
  else for (const line of tableOf(items, columns)) await printLine(line);
  if (hasMore) {
    const count = items.length;
    say(`the first ${count} ${count === 1 ? one : several}; --limit shows more`);
  }
}

/** Prints one message: a line for each field that is set, named in words, or JSON. */
export async function printMessage<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
  format: Format,
): Promise<void> {
  if (format === "json") return printJson(jsonOf(schema, message));
  const json = toJson(schema, message) as Readonly<Record<string, unknown>>;
  const entries = Object.entries(json).map(([name, value]) => [wordsOf(name), textOf(value)]);
  const width = Math.max(0, ...entries.map(([name = ""]) => name.length));
  for (const [name = "", text = ""] of entries) {
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
  if (format === "json") await printJson(jsonOf(schema, message));
  else say(sentence);
}
