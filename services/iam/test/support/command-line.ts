/** The program svc-iam, logged in at a service of the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { COMMAND_LINE_CLIENT } from "../../src/commands/login/login-command.ts";
import { FIRST, linkOf, send } from "./bootstrap.ts";
import { Browser } from "./browser.ts";
import { type IamService, type IamServiceOptions, LOGIN_CLIENT, startIam } from "./iam-service.ts";
import { MAIN, type Ran, runIam } from "./run-program.ts";

/** The client of the command line, as a configuration declares it. */
export const CLIENT = {
  id: COMMAND_LINE_CLIENT,
  name: "Command line",
  flows: ["device"],
  ask_consent: false,
};

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A svc-iam at which the command line can log in, with the first user, who owns the zone. */
export async function startOwned(options: IamServiceOptions = {}): Promise<IamService> {
  const iam = await startIam({
    ...options,
    oidc: { audience: [LOGIN_CLIENT, COMMAND_LINE_CLIENT] },
    iam: { clients: [CLIENT], ...options.iam },
  });
  const { token } = await linkOf(iam);
  const { status, text } = await send(iam, { ...FIRST, token });
  if (status !== 200) throw new Error(`the first user was not made: ${text}`);
  return iam;
}

/** A person's command line: a state folder of its own. */
export class CommandLine {
  readonly folder = mkdtempSync(join(tmpdir(), "svc-iam-cli-"));
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>> = {}) {
    folders.push(this.folder);
    this.#env = env;
  }

  /** The file of the login. */
  get loginFile(): string {
    return join(this.folder, "svc-iam", "login.json");
  }

  /** Starts a command. */
  start(...args: readonly string[]): ChildProcess {
    return spawn(process.execPath, [MAIN, ...args], {
      cwd: this.folder,
      env: { ...process.env, ...this.#environment },
    });
  }

  get #environment(): NodeJS.ProcessEnv {
    return { XDG_STATE_HOME: this.folder, SVC_IAM_LOGIN_FILE: "", ...this.#env };
  }

  /** Runs a command to its end. */
  run(...args: readonly string[]): Promise<Ran> {
    return this.runWith("", ...args);
  }

  /** Runs a command to its end in a thread, also in CI: for one of many rows that do not need a process each. */
  runInThread(...args: readonly string[]): Promise<Ran> {
    return runIam(args, { cwd: this.folder, env: this.#environment, isProcess: false });
  }

  /** Runs a command to its end at a terminal, where a person answers what it asks. */
  runAnswering(answer: string, ...args: readonly string[]): Promise<Ran> {
    return runIam(args, { cwd: this.folder, env: this.#environment, answer });
  }

  /** Runs a command to its end, with standard input. */
  runWith(input: string, ...args: readonly string[]): Promise<Ran> {
    return runIam(args, {
      cwd: this.folder,
      env: this.#environment,
      ...(input === "" ? {} : { input }),
    });
  }

  /** Runs a command that must succeed, with `--format json`. @returns the value that it prints */
  async json(...args: readonly string[]): Promise<any> {
    const { status, stdout, stderr } = await this.run(...args, "--format", "json");
    if (status !== 0) throw new Error(`svc-iam ${args.join(" ")} ended with ${status}: ${stderr}`);
    return JSON.parse(stdout);
  }

  /** Logs in, approving it in a browser. */
  async logIn(iam: IamService, person = FIRST): Promise<Ran> {
    const child = this.start("login", iam.origin);
    const ended = endOf(child);
    await approve(new Browser(iam.origin), await linkIn(child), person);
    return ended;
  }
}

/** The output of a process that has ended. */
export async function endOf(child: ChildProcess): Promise<Ran> {
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => void (output.stdout += chunk));
  child.stderr?.on("data", (chunk: Buffer) => void (output.stderr += chunk));
  const [status] = await once(child, "close");
  return { status, ...output };
}

/** The link that `svc-iam login` shows. */
export function linkIn(child: ChildProcess): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      text += chunk;
      const link = /open (\S+) in a browser/.exec(text)?.[1];
      if (link !== undefined) resolve(link);
    });
    child.once("close", () => reject(new Error(`the login ended: ${text}`)));
  });
}

/** Approves the login of a device as a person does. */
export async function approve(
  browser: Browser,
  link: string,
  { username = "", password = "" }: Readonly<Record<string, string>> = FIRST,
): Promise<void> {
  let visit = await browser.submit(await browser.open(link), {});
  visit = await browser.submit(visit, { confirm: "yes" });
  if (visit.text.includes('name="password"')) {
    visit = await browser.submit(visit, { action: "login", username, password });
  }
  if (!visit.text.includes("The device is logged in")) throw new Error(visit.text);
}
