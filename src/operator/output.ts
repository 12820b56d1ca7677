import { once } from "node:events";

/** Writes a line of the result, and waits where the reader is slower. */
export async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}
