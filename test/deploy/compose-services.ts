/** The services of compose.yaml as processes of this machine: the same commands, variables and files. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { findEtcd } from "../support/etcd.ts";
import { freePort } from "../support/free-port.ts";
import { openPostgres, postgresPrograms, type TestPostgres } from "../support/postgres.ts";
import { runProgram } from "../support/programs.ts";
import { findSpicedb } from "../support/spicedb.ts";
import { until } from "../support/until.ts";
import { ROOT } from "../support/workspace.ts";

/** A service of the file, as far as it is used here. */
interface Entry {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Entry>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
}

/** A part of the Dockerfile: what runs, and the variables that it sets. */
interface Image {
  readonly entrypoint: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The command of its health check. */
  readonly health: readonly string[];
}

/** Programs of images that this machine may not have. */
const PROBES = join(import.meta.dirname, "probes");
const STAND_INS: readonly string[] = ["grpc_health_probe", "etcdctl"];

/** The ports inside the containers, which all have the same machine here. */
const PORTS = [5432, 50051, 2379, 18080, 19080, 19180, 18001, 19001, 19101, 19002, 19102];

/** The services of compose.yaml, each a process. */
export class ComposeServices {
  readonly text = readFileSync(join(ROOT, "compose.yaml"), "utf8");
  readonly file: ComposeFile = parse(this.text, { merge: true });
  readonly #folder: string;
  readonly #bundles: Readonly<Record<string, string>>;
  readonly #ports: ReadonlyMap<number, number>;
  readonly #running = new Map<string, ChildProcess>();
  readonly #postgres: TestPostgres;
  #output = "";

  private constructor(
    folder: string,
    bundles: Readonly<Record<string, string>>,
    ports: ReadonlyMap<number, number>,
    postgres: TestPostgres,
  ) {
    this.#folder = folder;
    this.#bundles = bundles;
    this.#ports = ports;
    this.#postgres = postgres;
  }

  /** @param bundles by the name of an image, the folder of its `/app` */
  static async prepare(
    folder: string,
    bundles: Readonly<Record<string, string>>,
  ): Promise<ComposeServices> {
    const postgres = await openPostgres();
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    const ports = new Map<number, number>();
    for (const port of PORTS) ports.set(port, await freePort());
    ports.set(5432, Number(new URL(postgres.url).port));
    return new ComposeServices(folder, bundles, ports, postgres);
  }

  /** What the services have written, for a message. */
  get output(): string {
    return this.#output;
  }

  port(inside: number): number {
    return this.#ports.get(inside) ?? inside;
  }

  /** Starts each service after those that it depends on, as compose does. */
  async start(): Promise<void> {
    const done = new Set<string>();
    const start = async (name: string) => {
      if (done.has(name)) return;
      done.add(name);
      const entry = this.#entry(name);
      for (const other of Object.keys(entry.depends_on ?? {})) await start(other);
      await this.#startOne(name, entry);
    };
    for (const name of Object.keys(this.file.services)) await start(name);
  }

  async #startOne(name: string, entry: Entry): Promise<void> {
    if (name === "postgres") {
      this.#createDatabases(entry);
      return until("postgres is healthy", () => this.isHealthy(name));
    }
    const { program, args, env } = this.#native(name, entry, entry.command);
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        this.#output += `${name}: ${chunk}`;
      });
    }
    this.#running.set(name, child);
    const dependants = Object.values(this.file.services);
    const mustComplete = dependants.some(
      (other) => other.depends_on?.[name]?.condition === "service_completed_successfully",
    );
    await until(
      () => `${name} is ready:\n${this.#output.slice(-4_000)}`,
      () => {
        if (mustComplete) {
          if (child.exitCode !== null && child.exitCode !== 0) throw this.#ended(name, child);
          return child.exitCode === 0;
        }
        if (child.exitCode !== null) throw this.#ended(name, child);
        return this.isHealthy(name);
      },
    );
  }

  #ended(name: string, { exitCode }: ChildProcess): Error {
    return new Error(`${name} ended with ${exitCode}:\n${this.#output.slice(-4_000)}`);
  }

  #entry(name: string): Entry {
    const entry = this.file.services[name];
    if (entry === undefined) throw new Error(`compose.yaml has no service ${name}`);
    return entry;
  }

  /** What the image of PostgreSQL does with the files of its folder when it is empty. */
  #createDatabases(entry: Entry): void {
    const [script] = this.#configsOf(entry);
    const psql = join(postgresPrograms() as string, "psql");
    const { status, stderr } = runProgram(psql, ["-q", "-f", script as string, this.#postgres.url]);
    if (status !== 0) throw new Error(stderr);
  }

  /** A command of a container here: paths, names of hosts and ports are those of this machine. */
  #native(name: string, entry: Entry, command: readonly string[]) {
    const image = imageOf(entry.image);
    const [program = "", ...args] = [...programOf(entry.image, image), ...command].map((text) =>
      this.#here(name, entry, text),
    );
    const own = Object.entries({ ...image?.environment, ...entry.environment });
    const variables = own.map(([key, value]) => [key, this.#here(name, entry, value)]);
    const env = {
      PATH: process.env["PATH"],
      // Listeners that containers have for themselves.
      SPICEDB_METRICS_ENABLED: "false",
      ETCD_LISTEN_PEER_URLS: "http://127.0.0.1:0",
      ...Object.fromEntries(variables),
    };
    return { program, args, env };
  }

  #here(name: string, entry: Entry, text: string): string {
    const data = join(this.#folder, name.replace(/-migrate$/, ""));
    mkdirSync(data, { recursive: true });
    let here = text.replaceAll("/app/", `${this.#bundles[entry.image]}/`);
    for (const [target, source] of this.#files(entry)) {
      if (!here.includes(target)) continue;
      const path = join(data, `${name}.yaml`);
      writeFileSync(
        path,
        this.#here(name, { ...entry, configs: [] }, readFileSync(source, "utf8")),
      );
      here = here.replaceAll(target, path);
    }
    here = here.replace(/(^|=)\/(data|etcd-data)\b/g, `$1${data}`);
    here = here.replace(/\b(?:postgres|spicedb|etcd|iam|git|hub)(?=:\d+)/g, "127.0.0.1");
    return here.replace(/(?<=:)\d{4,5}\b/g, (port) => String(this.port(Number(port))));
  }

  #files({ configs = [] }: Entry): [target: string, source: string][] {
    return configs.map(({ source, target }) => [
      target,
      join(ROOT, this.file.configs[source]?.file ?? ""),
    ]);
  }

  #configsOf(entry: Entry): string[] {
    return this.#files(entry).map(([, source]) => source);
  }

  /** The services whose health is asked for, and those that others wait for until they are healthy. */
  get healthChecks() {
    const names = Object.keys(this.file.services);
    const all = Object.values(this.file.services).flatMap(({ depends_on = {} }) =>
      Object.entries(depends_on).filter(([, { condition }]) => condition === "service_healthy"),
    );
    return {
      declared: names.filter((name) => this.#healthCheck(name) !== undefined),
      required: [...new Set(all.map(([name]) => name))],
    };
  }

  /** Runs the health check that a service declares, in the file or in its image. */
  isHealthy(name: string): boolean {
    const entry = this.#entry(name);
    const [program = "", ...args] = this.#healthCheck(name) ?? [];
    const { env } = this.#native(name, entry, []);
    const here = args.map((text) => this.#here(name, entry, text));
    const port = { PGPORT: String(this.port(5432)) };
    const [file = "", ...first] = nativeProgram(program);
    return runProgram(file, [...first, ...here], { env: { ...env, ...port } }).status === 0;
  }

  #healthCheck(name: string): readonly string[] | undefined {
    const { healthcheck = {}, image } = this.#entry(name);
    if (healthcheck.disable === true) return undefined;
    const { test } = healthcheck;
    if (test === undefined) return imageOf(image)?.health;
    if (test[0] !== "CMD") throw new Error(`the health check of ${name} needs a shell`);
    return test.slice(1);
  }

  /** Runs a command in a service that runs, as `docker compose exec`. */
  exec(name: string, command: readonly string[]) {
    const entry = this.#entry(name);
    const { env } = this.#native(name, entry, []);
    const [program = "", ...args] = command.map((text) =>
      this.#here(name, entry, text.replace(/^\/nodejs\/bin\/node$/, process.execPath)),
    );
    return runProgram(program, args, { env });
  }

  /** Stops all by SIGTERM, the latest first. @returns the exit codes of those that still ran, by name */
  async stop(): Promise<Record<string, number | null>> {
    const codes: Record<string, number | null> = {};
    for (const [name, child] of [...this.#running].reverse()) {
      if (child.exitCode !== null) continue;
      const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      codes[name] = await exit;
    }
    this.#running.clear();
    return codes;
  }

  async remove(): Promise<void> {
    await this.stop();
    this.#postgres.remove();
  }
}

/** The program that an image starts; `spicedb` and `etcd` are found as other tests find them. */
function programOf(name: string, image: Image | undefined): readonly string[] {
  if (image !== undefined) return [process.execPath, ...image.entrypoint.slice(1)];
  if (name.includes("/spicedb:")) return [findSpicedb() as string];
  return [];
}

/** What the Dockerfile says of an image of ours; undefined for others. */
function imageOf(name: string): Image | undefined {
  const target = { "svc-iam": "iam", "svc-access-hub": "hub" }[name];
  if (target === undefined) return undefined;
  const text = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  const stage = (of: string) =>
    new RegExp(`^FROM \\S+ AS ${of}$([^]*?)(?=^FROM |$(?![^]))`, "m").exec(text)?.[1] ?? "";
  const both = `${stage("service")}${stage(target)}`;
  const variables = [...both.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = ""]) => line.split(" "));
  return {
    entrypoint: JSON.parse(/^ENTRYPOINT (.*)$/m.exec(stage(target))?.[1] ?? "[]"),
    environment: Object.fromEntries(variables.map((variable) => variable.split("=", 2))),
    health: JSON.parse(/^HEALTHCHECK .*\bCMD (.*)$/m.exec(both)?.[1] ?? "[]"),
  };
}

/** A program of a container here. */
function nativeProgram(program: string): readonly string[] {
  if (program === "/nodejs/bin/node") return [process.execPath];
  if (program === "pg_isready") return [join(postgresPrograms() as string, program)];
  if (STAND_INS.includes(program)) return [process.execPath, join(PROBES, `${program}.ts`)];
  throw new Error(`there is no ${program} here`);
}

export function composeIsAbsent(): boolean {
  const missing = [
    ...(postgresPrograms() === undefined ? ["PostgreSQL"] : []),
    ...(findSpicedb() === undefined ? ["SpiceDB"] : []),
    ...(findEtcd() === undefined ? ["etcd"] : []),
  ];
  if (missing.length === 0) return false;
  const message = `there is no ${missing.join(", ")}`;
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the services of compose.yaml: ${message}`);
  return true;
}
