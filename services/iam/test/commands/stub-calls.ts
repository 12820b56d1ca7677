/** Commands in the process of the test, whose calls the test answers. */
import { vi } from "vitest";
import { type Connection, connectBy } from "../../src/commands/connection/connection.ts";
import type { Ran } from "../support/run-program.ts";

/** The answers to calls, by the names of the methods. */
export type Answers = Readonly<Record<string, (request: any, options?: any) => Promise<unknown>>>;

/** Runs a command whose calls are answered so. An error of the command is thrown, with what it has printed. */
export async function runWith(answers: Answers, command: () => Promise<number>): Promise<Ran> {
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      output[name] += text;
      return true;
    });
  }
  const connection: Connection = {
    organizationId: "acme",
    client: () => answers as never,
    async [Symbol.asyncDispose]() {},
  };
  connectBy(async () => connection);
  try {
    return { status: await command(), ...output };
  } catch (error) {
    throw Object.assign(error as Error, output);
  } finally {
    vi.restoreAllMocks();
  }
}
