import { once } from "node:events";
import { printable } from "./printable.ts";

/** A line for the user that is not a result. */
export function note(line: string): void {
  process.stderr.write(`svc-access: ${printable(line)}\n`);
}

/** Writes a line of the result, and waits for a slow reader. */
export async function print(line: string): Promise<void> {
  await write(`${line}\n`);
}

/** The least number of characters to write at once. */
const MANY_CHARACTERS = 1 << 16;

/** Writes the pieces of a long result, several at once, and waits for a slow reader. */
export async function printPieces(pieces: Iterable<string>): Promise<void> {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < MANY_CHARACTERS) continue;
    await write(text);
    text = "";
  }
  await write(text);
}

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}
