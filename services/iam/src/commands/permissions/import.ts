import type { ServiceClient } from "svc-access/runtime";
import { IAMAuthorizationService } from "../../../gen/svc/iam/v1/administration_pb.ts";
import { IAMAuthorizationServiceRoutes } from "../../../gen/svc/iam/v1/administration_server.ts";
import { type Connection, connect } from "../connection/connection.ts";
import { CommandError } from "../run/command-error.ts";
import type { CallFlags } from "../run/flags.ts";
import { printJson } from "../run/print.ts";
import { refusalText } from "../run/refusal.ts";
import { EXIT, problemOf, say } from "../run/run-command.ts";
import { withinRate } from "../run/within-rate.ts";
import { type ReadRelationship, readRelationshipFile } from "./read-relationship-file.ts";
import { MOST, named } from "./relationships.ts";

/** The server's refusals of what a line says: it is looked for. */
const OF_A_LINE: ReadonlySet<unknown> = new Set([
  "ALREADY_EXISTS",
  "FAILED_PRECONDITION",
  "FORBIDDEN",
  "INVALID_ARGUMENT",
]);

type Service = ServiceClient<typeof IAMAuthorizationService>;

/** Writes the relationships of a file. @returns the exit code */
export async function importRelationships(file: string, { format }: CallFlags): Promise<number> {
  const read = await readRelationshipFile(file);
  await using connection = await connect();
  const service = connection.client(IAMAuthorizationService, IAMAuthorizationServiceRoutes);
  const lines = await withIds(connection, read);
  let count = 0;
  const written = (more: number) => {
    count += more;
  };
  try {
    for (let start = 0; start < lines.length; start += MOST) {
      await write(service, file, lines.slice(start, start + MOST), written);
    }
  } catch (error) {
    const problem = problemOf(error as Error);
    if (problem === undefined) throw error;
    const done = count === 0 ? "none is" : `the first ${count} of ${lines.length} are`;
    throw new CommandError(`${problem}; ${done} written`, { cause: error });
  }
  if (format === "json") await printJson({ count });
  else say(`${count} relationship${count === 1 ? "" : "s"} written`);
  return EXIT.done;
}

/** The lines with the ids that names in texts stand for. */
async function withIds(
  connection: Connection,
  lines: readonly ReadRelationship[],
): Promise<readonly ReadRelationship[]> {
  const texts = lines.filter(({ isJson }) => !isJson);
  const found = await named(
    connection,
    texts.map(({ relationship }) => relationship),
  );
  const known = new Map(texts.map((line, index) => [line, found[index]]));
  return lines.map((line) => ({ ...line, relationship: known.get(line) ?? line.relationship }));
}

/** Writes some lines at once. If the server refuses that, it writes those before the first line that it refuses. */
async function write(
  service: Service,
  file: string,
  lines: readonly ReadRelationship[],
  written: (count: number) => void,
): Promise<void> {
  try {
    const relationships = lines.map(({ relationship }) => relationship);
    await withinRate(() => service.writeRelationships({ relationships }));
    written(lines.length);
  } catch (error) {
    const refusal = error as Error & { readonly code: string };
    if (!OF_A_LINE.has(refusal.code)) throw error;
    const half = Math.ceil(lines.length / 2);
    const [first] = lines;
    if (half === lines.length) {
      const problem = `${file}:${first?.number}: ${refusalText(refusal)}`;
      throw new CommandError(problem, { cause: error });
    }
    await write(service, file, lines.slice(0, half), written);
    await write(service, file, lines.slice(half), written);
  }
}
