import { once } from "node:events";
import {
  HALVES,
  INVISIBLE,
  UNPRINTABLE,
  writtenOut,
} from "../runtime/operation/redaction/unsafe-characters.ts";

const UNSAFE = new RegExp(`[${UNPRINTABLE}${INVISIBLE}${HALVES}]`, "gu");

/** A text that no terminal misreads. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, writtenOut);
}

/** Writes a line of the result, and waits where the reader is slower. */
export async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}

/** A line for the user that is no result. */
export function note(line: string): void {
  process.stderr.write(`svc-access: ${printable(line)}\n`);
}
