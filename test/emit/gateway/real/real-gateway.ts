import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runProgram } from "../../../support/programs.ts";
import { BUF, ROOT } from "../../../support/workspace.ts";
import { platformYaml } from "./platform.ts";
import { findPrograms, ownNetwork } from "./programs.ts";

/** A request of a client outside. */
export interface Asked {
  readonly host?: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: readonly (readonly [string, string])[];
  /** A Bearer token. */
  readonly token?: string;
  /** JSON, where no type is given. */
  readonly body?: string;
  readonly type?: string;
  readonly port?: number;
}

/** What came of it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
  /** What reached a backend; absent if the gateway answered. */
  readonly seen?: {
    readonly method: string;
    readonly url: string;
    readonly rawHeaders: readonly string[];
  };
}

/** What the test asks of the program inside. */
export type Command =
  | { readonly kind: "ask"; readonly asked: Asked }
  | { readonly kind: "ask at once"; readonly asked: readonly Asked[] }
  | { readonly kind: "token"; readonly claims: Readonly<Record<string, unknown>> }
  | { readonly kind: "log" }
  | { readonly kind: "routes" }
  | { readonly kind: "hub is gone" };

/** The emitted files of the hub on a real Envoy Gateway with a real Envoy, in a network of their own. */
export class RealGateway {
  readonly folder = mkdtempSync(join(tmpdir(), "svc-access-gateway-"));
  /** What `svc-access generate` said. */
  readonly notes: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #errors = "";

  constructor() {
    const programs = findPrograms();
    const network = ownNetwork();
    if (programs === undefined || network === undefined) throw new Error("there is no gateway");
    this.notes = generate(this.folder);
    const [command = "", ...args] = network;
    this.#child = spawn(
      command,
      [
        ...args,
        process.execPath,
        join(import.meta.dirname, "inside.ts"),
        this.folder,
        join(this.folder, "gen"),
        programs.envoyGateway,
        programs.envoy,
      ],
      { stdio: ["pipe", "pipe", "pipe"] },
    );
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    const output = this.#child.stdout as NonNullable<ChildProcess["stdout"]>;
    this.#lines = createInterface({ input: output })[Symbol.asyncIterator]();
  }

  /** Waits until all hosts are served. */
  async ready(): Promise<void> {
    await this.#next();
  }

  /** Has a command run. Commands run one after the other. */
  async run<Result>(command: Command): Promise<Result> {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
    return (await this.#next()) as Result;
  }

  ask(asked: Asked): Promise<Answer> {
    return this.run({ kind: "ask", asked });
  }

  token(claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
    return this.run({ kind: "token", claims });
  }

  async remove(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdin?.end();
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #next(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the gateway has ended: ${this.#errors}`);
    return JSON.parse(value);
  }
}

function generate(folder: string): string {
  const image = join(folder, "hub.binpb");
  const config = join(folder, "svc-access.yaml");
  writeFileSync(config, platformYaml());
  const hub = join(ROOT, "examples/hub");
  for (const [command, args] of [
    [BUF, ["build", "-o", image]],
    [
      "svc-access",
      ["generate", image, "--config", config, "--target", "gateway", "--out", join(folder, "gen")],
    ],
  ] as const) {
    const { status, stderr } = runProgram(command, args, { cwd: hub });
    if (status !== 0) throw new Error(stderr);
    if (command === "svc-access") return stderr;
  }
  throw new Error("nothing was generated");
}
