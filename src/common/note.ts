import { printable } from "./printable.ts";

/** A line for the user that is not a result. */
export function note(line: string): void {
  process.stderr.write(`svc-access: ${printable(line)}\n`);
}
