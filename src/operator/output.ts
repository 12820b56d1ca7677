import { once } from "node:events";
import { printable } from "../common/printable.ts";

/** Writes a line of the result, and waits where the reader is slower. */
export async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}

/** A line for the user that is no result. */
export function note(line: string): void {
  process.stderr.write(`svc-access: ${printable(line)}\n`);
}
