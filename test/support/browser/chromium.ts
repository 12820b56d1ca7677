import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { DevTools } from "../dev-tools.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** Chromium: `CHROMIUM`, or on the PATH. */
function findChromium(): string | undefined {
  const candidates = [process.env["CHROMIUM"] ?? "", ...NAMES];
  return candidates.find(
    (name) => name !== "" && spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0,
  );
}

/** Whether tests in a browser are skipped, with a warning; never in CI. */
export function chromiumIsAbsent(): boolean {
  if (findChromium() !== undefined) return false;
  const message = "there is no Chromium on the PATH: install it, or set CHROMIUM";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests in a browser: ${message}`);
  return true;
}

const FLAGS = [
  "--headless=new",
  // It ends with this process, even if that crashes.
  "--remote-debugging-pipe",
  // Containers have no namespaces for its sandbox, and it opens only the page of the test.
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-crash-reporter",
  "--disable-extensions",
  "--disable-sync",
  "--no-default-browser-check",
  "--no-first-run",
  "--password-store=basic",
];

/** Cookies, storage and history apart from those of the others of the browser. */
export interface Profile {
  readonly browserContextId: string;
}

/** A separate Chromium with one page. */
export class Chromium {
  readonly #folder = mkdtempSync(join(tmpdir(), "svc-access-chromium-"));
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  /** Its DevTools protocol. */
  readonly devTools: DevTools;
  #errors = "";

  constructor(page: string, ...flags: readonly string[]) {
    const program = findChromium();
    if (program === undefined) throw new Error("there is no Chromium");
    this.#child = spawn(program, [...FLAGS, `--user-data-dir=${this.#folder}`, ...flags, page], {
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
    });
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    this.devTools = new DevTools(this.#pipe, this.#child.stdio[4] as Readable);
    this.#closed = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", () => resolve());
    });
  }

  /** Makes a new profile, as a new start of the browser would, which takes a second of processor time. */
  async newProfile(): Promise<Profile> {
    const { browserContextId } = await this.devTools.send("Target.createBrowserContext");
    return { browserContextId };
  }

  /** The next message, or an error if the browser ends before. */
  until<Result>(result: Promise<Result>): Promise<Result> {
    const ended = this.#closed.then(() => {
      throw new Error(`Chromium has ended: ${this.#errors}`);
    });
    return Promise.race([result, ended]);
  }

  /** The ids of its processes. */
  processes(): readonly string[] {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && this.#isOf(name));
  }

  /** Ends it with all its processes. */
  async close(): Promise<void> {
    // A process that has ended reads no input.
    this.devTools.send("Browser.close").catch(() => undefined);
    this.#pipe.end();
    await this.#closed;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  get #pipe(): Writable {
    return this.#child.stdio[3] as Writable;
  }

  #isOf(processId: string): boolean {
    try {
      return readFileSync(`/proc/${processId}/cmdline`, "latin1").includes(this.#folder);
    } catch {
      return false;
    }
  }
}
