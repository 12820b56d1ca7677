import { execFileSync, spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";
import { freePort } from "./free-port.ts";
import { RUN_FOLDER } from "./workspace.ts";

/** A PostgreSQL server for tests; a temporary one has `stop` and `start`. */
export interface TestPostgres {
  readonly url: string;
  readonly stop?: () => void;
  readonly start?: () => void;
  readonly remove: () => void;
}

/** The options of a temporary server. */
export interface PostgresOptions {
  /** Whether it waits for the disk, as in production; for measurements. */
  readonly isDurable?: boolean;
  /** How many connections it takes; 100 if absent. */
  readonly maxConnections?: number;
}

/** The server that `POSTGRES_URL` names, or a temporary one; undefined if PostgreSQL is not installed. */
export async function openPostgres(
  options: PostgresOptions = {},
): Promise<TestPostgres | undefined> {
  const url = process.env["POSTGRES_URL"];
  if (url !== undefined && url !== "") return { url, remove: () => undefined };
  const programs = postgresPrograms();
  return programs === undefined ? undefined : temporaryCluster(programs, options);
}

/** Runs a statement on a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The folder of PostgreSQL's programs; on Debian it is not on PATH. */
export function postgresPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const folders = [
    ...versions
      .sort((left, right) => Number(right) - Number(left))
      .map((v) => join(debian, v, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return folders.find((folder) =>
    ["initdb", "pg_ctl", "postgres"].every((program) => existsSync(join(folder, program))),
  );
}

async function temporaryCluster(
  programs: string,
  { isDurable = false, maxConnections = 100 }: PostgresOptions,
): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-postgres-"));
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? unprivilegedUser() : {};
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(programs, program), args, { cwd: folder, stdio: "ignore", ...user });
  newCluster(data, run);
  const hba = join(data, "pg_hba.conf");
  // All users are trusted, except one for tests of credentials.
  writeFileSync(hba, `host all guarded all scram-sha-256\n${readFileSync(hba, "utf8")}`);
  const port = await freePort();
  // Tests kill its process, never the machine: written data is not lost, and a busy disk does not
  // slow down a recovery.
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=${isDurable ? "on" : "off"} -c max_connections=${maxConnections}`;
  const start = () =>
    void run("pg_ctl", [
      "-D",
      data,
      "-w",
      "-t",
      "150",
      "-l",
      join(folder, "log"),
      "-o",
      settings,
      "start",
    ]);
  const stop = () => void run("pg_ctl", ["-D", data, "-w", "-t", "150", "-m", "immediate", "stop"]);
  start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop,
    remove: () => {
      try {
        stop();
      } catch {
        // A test has stopped it.
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Puts a new cluster there. The first file of a run of the tests makes one, and the others copy it, which takes a
 * tenth of the processor time.
 */
function newCluster(data: string, run: (program: string, args: readonly string[]) => void): void {
  // Others than tests have no such folder.
  const folder = process.env[RUN_FOLDER];
  const kept = folder === undefined ? undefined : join(folder, "new-postgres");
  if (kept === undefined || !existsSync(kept)) {
    const options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
    // A smaller log to copy: 5 files of 1 MB instead of one of 16 MB.
    run("initdb", ["-D", data, ...options, "--wal-segsize=1"]);
    if (kept === undefined) return;
    try {
      renameSync(data, kept);
    } catch {
      // Another file was faster.
      return;
    }
  }
  // It keeps the owner of the files, which PostgreSQL insists on.
  execFileSync("cp", ["-a", kept, data]);
}

function unprivilegedUser(): { uid?: number; gid?: number } {
  for (const name of ["postgres", "nobody"]) {
    const id = (option: string) => Number(spawnSync("id", [option, name]).stdout.toString().trim());
    if (id("-u") > 0) return { uid: id("-u"), gid: id("-g") };
  }
  return {};
}
