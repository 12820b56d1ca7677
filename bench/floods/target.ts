/**
 * The service that is flooded, a process of its own, and what it costs seen from outside: run
 * with a folder it serves, imported it starts one.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createLogger, createServer, type ServerAddresses } from "../../src/runtime/index.ts";
import { bindVaultService } from "../../test/runtime/fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../../test/runtime/support/vault-handlers.ts";
import { vaultConfiguration } from "../../test/runtime/support/vault-server.ts";

const SETTLE_MS = 2_000;
const SAMPLE_MS = 50;
/** Linux counts the time of processes in these. */
const TICKS_PER_SECOND = 100;
const MIB = 1024;

/** The notice whose response is large. */
export const LARGE_NOTICE = "large";
const LARGE_BYTES = 3_900_000;

/** What a process cost in some time. */
export interface Cost {
  /** Of one processor. */
  readonly cpuPercent: number;
  /** The most that it had above what it had at rest. */
  readonly megabytes: number;
}

/** A service under way, at rest when it is given. */
export class Target {
  readonly http: number;
  readonly grpc: number;
  readonly metrics: number;
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #atRest: number;
  readonly #timer: NodeJS.Timeout;
  #peak = 0;

  private constructor(process: ChildProcess, folder: string, addresses: ServerAddresses) {
    this.#process = process;
    this.#folder = folder;
    this.http = addresses["http"]?.port ?? 0;
    this.grpc = addresses["grpc"]?.port ?? 0;
    this.metrics = addresses["metrics"]?.port ?? 0;
    this.#atRest = this.#resident();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  static async start(): Promise<Target> {
    const folder = mkdtempSync(join(tmpdir(), "svc-access-flood-"));
    const service = fork(fileURLToPath(import.meta.url), [folder]);
    const [addresses] = (await once(service, "message")) as [ServerAddresses];
    // Health and reflection are loaded with the first call, and the start leaves some for the collector.
    await sleep(SETTLE_MS);
    return new Target(service, folder, addresses);
  }

  /** The share of a processor from now on. */
  cpu(): () => number {
    const [ticks, begin] = [this.#ticks(), performance.now()];
    return () => {
      const seconds = (performance.now() - begin) / 1000;
      return ((this.#ticks() - ticks) / TICKS_PER_SECOND / seconds) * 100;
    };
  }

  /** The most megabytes above those at rest, so far. */
  get megabytes(): number {
    this.#sample();
    return (this.#peak - this.#atRest) / MIB;
  }

  /** Whether it is still there. */
  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    if (this.isAlive) {
      this.#process.kill("SIGKILL");
      await once(this.#process, "exit");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #sample(): void {
    this.#peak = Math.max(this.#peak, this.#resident());
  }

  /** In kilobytes. */
  #resident(): number {
    return Number(/^VmRSS:\s+(\d+)/m.exec(this.#proc("status"))?.[1] ?? 0);
  }

  #ticks(): number {
    // The name of the process, in brackets, may hold spaces.
    const fields = this.#proc("stat").split(") ")[1]?.split(" ") ?? [];
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }

  #proc(name: string): string {
    try {
      return readFileSync(`/proc/${this.#process.pid}/${name}`, "utf8");
    } catch {
      return "";
    }
  }
}

const LARGE = Buffer.alloc(LARGE_BYTES, "x");

/** As a store gives it: a text of its own in each call. */
function largeNotice(): string {
  return LARGE.toString("latin1");
}

async function serve(folder: string): Promise<void> {
  const handlers = vaultHandlers();
  const server = await createServer({
    configuration: vaultConfiguration(folder, {}, {}),
    bindings: [
      bindVaultService({
        ...handlers,
        getNotice: async (request, context) =>
          request.noticeId === LARGE_NOTICE
            ? { echo: largeNotice() }
            : handlers.getNotice(request, context),
      }),
    ],
    logger: createLogger({ destination: { write: () => undefined } }),
  });
  process.send?.(await server.start());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve(process.argv[2] ?? "");
