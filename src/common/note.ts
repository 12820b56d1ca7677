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

/** The number of bytes to write at once. */
const MANY_BYTES = 1 << 16;
/** The maximum number of bytes of a UTF-16 unit in UTF-8. */
const UNIT_BYTES = 3;

/** Writes the pieces of a long result, several at once, and waits for a slow reader. */
export async function printPieces(pieces: Iterable<string>): Promise<void> {
  // The stream would encode each text into new memory.
  const buffer = Buffer.allocUnsafeSlow(MANY_BYTES);
  let length = 0;
  for (const piece of pieces) {
    const most = piece.length * UNIT_BYTES;
    if (length + most > MANY_BYTES) {
      await written(buffer.subarray(0, length));
      length = 0;
    }
    if (most > MANY_BYTES) await written(piece);
    else length += buffer.write(piece, length);
  }
  await written(buffer.subarray(0, length));
}

/** Writes to standard output, and waits until the data is no longer used. */
async function written(data: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write(data, () => resolve()));
}

/**
 * Ends the process once its output is written. Node.js itself would first free its memory, page by page,
 * which takes as long as the start of a small command.
 */
export async function exitOnceWritten(): Promise<never> {
  await written("");
  await new Promise<void>((resolve) => process.stderr.write("", () => resolve()));
  process.exit();
}

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}
