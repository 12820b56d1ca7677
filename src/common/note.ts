import { once } from "node:events";
import { printable } from "./printable.ts";

/** A line for the user that is not a result. */
export function note(line: string): void {
  process.stderr.write(`svc-access: ${printable(line)}\n`);
}

/** Writes a line of the result, and waits for a slow reader. */
export async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}
