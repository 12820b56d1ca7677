import type { ServiceClient } from "svc-access/runtime";
import { IAMAuthorizationService } from "../../../gen/svc/iam/v1/administration_pb.ts";
import { IAMAuthorizationServiceRoutes } from "../../../gen/svc/iam/v1/administration_server.ts";
import { connect } from "../connection/connection.ts";
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
  const withIds = await named(
    connection,
    read.map(({ relationship }) => relationship),
  );
  const lines = withIds.map((relationship, index) => ({
    relationship,
    number: read[index]?.number ?? 0,
  }));
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
