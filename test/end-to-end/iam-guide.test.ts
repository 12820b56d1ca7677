/** The guide of docs/iam.md, from empty machines to two replicas: each command, as it is written. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser } from "../../services/iam/test/support/browser.ts";
import { datastoreIsAbsent } from "../authz/spicedb/postgres-datastore.ts";
import { IS_THOROUGH } from "../support/effort.ts";
import { freePort } from "../support/free-port.ts";
import { openPostgres, postgresPrograms, query, type TestPostgres } from "../support/postgres.ts";
import { findSpicedb } from "../support/spicedb.ts";
import { until } from "../support/until.ts";
import { ROOT } from "../support/workspace.ts";

const PASSWORD = "correct horse battery staple";
const text = readFileSync(join(ROOT, "docs/iam.md"), "utf8");
const guide = text.slice(text.indexOf("## From empty machines to two replicas"));
const blocks = (language: string) =>
  [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, block = ""]) =>
    name === language ? [block] : [],
  );

/** What a replica has of its own where both are on one machine. */
interface Replica {
  readonly origin: string;
  readonly environment: Readonly<Record<string, string>>;
}

let postgres: TestPostgres | undefined;
let folder = "";
let environment: Readonly<Record<string, string | undefined>> = {};
let replaced: readonly (readonly [string, string])[] = [];
const replicas: Replica[] = [];
const running: ChildProcess[] = [];
const browser = () => new Browser(replicas[0]?.origin ?? "");
let person: Browser;

describe.skipIf(!IS_THOROUGH || datastoreIsAbsent())("the guide", () => {
  beforeAll(prepare);
  afterAll(async () => {
    await stopAll();
    postgres?.remove();
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
  });

  test("PostgreSQL and SpiceDB", async ({ skip }) => {
    skip(postgres?.stop === undefined, "the roles of the guide are made on a temporary server");
    const [variables = "", roles = "", spicedb = "", schema = ""] = blocks("sh");
    readVariables(variables);
    writeFileSync(join(folder, "roles.sql"), here(blocks("sql")[0] ?? ""));
    run(roles);
    const serve = commands(spicedb).find((command) => command.startsWith("spicedb serve"));
    run(spicedb.replace(/^spicedb serve.*\n/m, ""));
    start(serve ?? "");
    await until("SpiceDB takes the schema", () => tryRun(schema));
  });

  test("the files, the tables, and both replicas", async () => {
    run(blocks("sh")[4] ?? "");
    writeFileSync(join(folder, "etc/service.yaml"), here(blocks("yaml")[0] ?? ""));
    for (const block of blocks("console")) {
      for (const step of block.split(/^\$ /m).slice(1)) {
        const [command = "", ...lines] = here(step).trimEnd().split("\n");
        expect(run(command).trimEnd().split("\n"), command).toEqual(lines);
      }
    }
    await startReplicas();
  });

  test("the first owner logs in, at both replicas", async () => {
    const link = run(blocks("sh")[6] ?? "").trim();
    person = browser();
    const page = await person.open(link);
    const name = { username: "root", display_name: "Root", email: "root@example.com" };
    const made = await person.submit(page, { ...name, password: PASSWORD, repeated: PASSWORD });
    expect(made.status).toBe(200);
    await logIn();
    expect(await statuses()).toEqual([200, 200]);
  });

  test("an upgrade, a backup, and its restoration", async () => {
    const [upgrade = "", backup = "", restore = "", end = ""] = blocks("sh").slice(7);
    expect(run(upgrade)).toContain("the tables already have this version");
    run(backup);
    const serve = blocks("sh")[2]?.match(/^spicedb serve.*$/m)?.[0] ?? "";
    await stopAll();
    run(restore);
    start(serve);
    await until("SpiceDB is there", () => tryRun(end));
    await startReplicas();
    expect(await statuses()).toEqual([401, 401]);
    await logIn();
    expect(await statuses()).toEqual([200, 200]);
  });
});

async function prepare(): Promise<void> {
  postgres = await openPostgres();
  if (postgres?.stop === undefined) return;
  await query(postgres.url, "ALTER SYSTEM SET track_commit_timestamp = on");
  postgres.stop();
  postgres.start?.();
  folder = mkdtempSync(join(tmpdir(), "svc-access-guide-"));
  for (const name of ["model", "node_modules"]) symlinkSync(join(ROOT, name), join(folder, name));
  const spicedb = `localhost:${await freePort()}`;
  mkdirSync(join(folder, "bin"));
  program("svc-iam", `exec '${process.execPath}' '${join(ROOT, "services/iam/src/main.ts")}' "$@"`);
  // The ports that both the guide's machine and other tests would use, and what asks the internet.
  const flags = `--grpc-addr=${spicedb} --http-enabled=false --metrics-enabled=false --telemetry-endpoint=`;
  program(
    "spicedb",
    `case "$1" in serve) set -- "$@" ${flags};; esac; exec '${findSpicedb()}' "$@" --skip-release-check`,
  );
  makeCertificate();
  for (let count = 0; count < 2; count++) {
    const http = await freePort();
    replicas.push({
      origin: `http://localhost:${http}`,
      environment: {
        HTTP_ADDRESS: `127.0.0.1:${http}`,
        GRPC_ADDRESS: `127.0.0.1:${await freePort()}`,
        METRICS_ADDRESS: `127.0.0.1:${await freePort()}`,
      },
    });
  }
  replaced = [
    ["db.internal:5432", new URL(postgres.url).host],
    ["spicedb.internal:50051", spicedb],
    ["/etc/svc-iam", join(folder, "etc")],
    ["https://iam.example.com", replicas[0]?.origin ?? ""],
    ["10.42.0.10/32", "127.0.0.1/32"],
  ];
  environment = {
    HOME: process.env["HOME"],
    TMPDIR: process.env["TMPDIR"],
    PATH: [
      join(folder, "bin"),
      join(ROOT, "node_modules/.bin"),
      postgresPrograms(),
      process.env["PATH"],
    ].join(":"),
  };
}

function program(name: string, script: string): void {
  const file = join(folder, "bin", name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

function makeCertificate(): void {
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", "spicedb-key.pem", "-out", "spicedb.pem"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...files, ...names], {
    cwd: folder,
    stdio: "ignore",
  });
  symlinkSync("spicedb.pem", join(folder, "ca.pem"));
}

/** A text of the guide with the addresses and folders of this test. */
function here(part: string): string {
  return replaced.reduce((result, [from, to]) => result.replaceAll(from, to), part);
}

function commands(block: string): string[] {
  return block.split("\n").filter((line) => line !== "");
}

/** Keeps the variables that a block exports. */
function readVariables(block: string): void {
  const lines = run(`${block}env`).split("\n");
  const entries = lines.map((line): [string, string] => [
    line.slice(0, line.indexOf("=")),
    line.slice(line.indexOf("=") + 1),
  ]);
  environment = { ...environment, ...Object.fromEntries(entries.filter(([name]) => name !== "")) };
}

function tryRun(block: string) {
  const { status } = spawnSync("sh", ["-ec", here(block)], { cwd: folder, env: environment });
  return status === 0;
}

/** Runs a block, which must succeed, and returns its standard output. */
function run(block: string): string {
  const { status, stdout, stderr } = spawnSync("sh", ["-ec", here(block)], {
    cwd: folder,
    env: environment,
    encoding: "utf8",
  });
  expect({ status, stderr: status === 0 ? "" : stderr }, block).toEqual({ status: 0, stderr: "" });
  return stdout;
}

/** Starts what a supervisor runs. */
function start(command: string, own: Readonly<Record<string, string>> = {}): void {
  const env = { ...environment, ...own };
  running.push(spawn("sh", ["-c", `exec ${here(command)}`], { cwd: folder, env, stdio: "ignore" }));
}

async function startReplicas(): Promise<void> {
  for (const replica of replicas) start((blocks("sh")[5] ?? "").trim(), replica.environment);
  for (const { origin } of replicas) {
    await until("a replica is ready", async () => {
      const response = await fetch(`${origin}/readyz`).catch(() => undefined);
      return response?.status === 200;
    });
  }
}

async function stopAll(): Promise<void> {
  for (const child of running.splice(0).reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await exited;
  }
}

async function logIn(): Promise<void> {
  const { origin = "" } = replicas[0] ?? {};
  person = browser();
  const page = await person.open(`${origin}/v1/iam/ui/login?return_to=/v1/iam/me`);
  const visit = await person.submit(page, {
    action: "login",
    username: "root",
    password: PASSWORD,
  });
  expect(JSON.parse(visit.text)).toMatchObject({ username: "root" });
}

/** What each replica answers to the browser. */
function statuses(): Promise<number[]> {
  const ask = async ({ origin }: Replica) => (await person.request(`${origin}/v1/iam/me`)).status;
  return Promise.all(replicas.map(ask));
}
