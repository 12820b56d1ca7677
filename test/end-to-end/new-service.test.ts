/**
 * Follows docs/runtime.md and the pages that continue it to create a new service: it writes their files, runs
 * their commands, compares their output, and type-checks their other TypeScript. In CI, npm installs
 * the packed package; elsewhere, links replace the installation.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IS_THOROUGH } from "../support/effort.ts";
import { linkPackages } from "../support/installed-repository.ts";
import { BIN, runProgram } from "../support/programs.ts";
import { until } from "../support/until.ts";
import { ROOT } from "../support/workspace.ts";

/** A fenced block of a page, with the line that leads to it. */
interface Block {
  readonly language: string;
  /** The name of its file, if the line above names one. */
  readonly file: string | undefined;
  readonly text: string;
}

const PAGES = ["docs/runtime.md", "docs/operations.md", "docs/service-state.md"];
const START = "node src/main.ts";
const PORTS = { "18010": "HTTP_ADDRESS", "19010": "GRPC_ADDRESS", "19110": "METRICS_ADDRESS" };

let folder: string;
let repo: string;
let env: NodeJS.ProcessEnv;
/** The ports in the page, and free ports for them. */
let ports: ReadonlyMap<string, string>;
let service: ChildProcess | undefined;
let log = "";

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-access-new-service-")));
  repo = join(folder, "notes");
  mkdirSync(repo);
  ports = new Map(await Promise.all(Object.keys(PORTS).map(freePort)));
  // The environment of this run of npm must not reach those of the page.
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name));
  env = {
    ...Object.fromEntries(inherited),
    PATH: [...(IS_THOROUGH ? [] : [join(ROOT, "bin")]), BIN, process.env["PATH"]].join(delimiter),
    NO_COLOR: "1",
    npm_config_fund: "false",
    npm_config_audit: "false",
    npm_config_update_notifier: "false",
    npm_config_loglevel: "error",
    npm_config_prefer_offline: "true",
  };
  for (const [port, name] of Object.entries(PORTS)) env[name] = `127.0.0.1:${ports.get(port)}`;
});

afterAll(() => {
  service?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("the commands of the pages work as shown", async () => {
  const tarball = IS_THOROUGH ? pack() : undefined;
  if (!IS_THOROUGH) {
    const others = ["@bufbuild", "@connectrpc", "@types", "typescript", "undici-types", "zod"];
    linkPackages(repo, others);
  }
  for (const { language, file, text } of PAGES.flatMap(blocksOf)) {
    if (file !== undefined) write(file, text);
    else if (language === "console") await follow(text, tarball);
  }
  await stopService();
  expect(log).toContain('"message":"stopped"');
  // Each SetItem was recorded, including the denied and the malformed one.
  expect(log.match(/"type":"notes.item.set"/g)?.length).toBe(4);
  expect(log).toMatch(/"decision":"denied",[^\n]*"status":403,"code":"FORBIDDEN"/);
}, 600_000);

test("the TypeScript of the pages has the right types", () => {
  let count = 0;
  for (const { language, file, text } of PAGES.flatMap(blocksOf)) {
    // Code that needs other packages is not checked.
    if (language !== "ts" || file !== undefined || text.includes("@opentelemetry/")) continue;
    writeFileSync(join(repo, `src/page-${count++}.ts`), text);
  }
  expect(count).toBeGreaterThan(5);
  expect(runProgram("tsc", [], { cwd: repo, env })).toMatchObject({ status: 0, stdout: "" });
});

test("an invalid name is rejected", () => {
  const init = (name: string) =>
    runProgram("svc-access", ["init", "--service", name], { cwd: repo });
  expect(init("Notes")).toMatchObject({ status: 2 });
  expect(init("../notes").stderr).toContain("is not a valid service name");
});

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const blocks = text.matchAll(/(?:^`([^`\n]+)`:\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, file, language = "", content = ""]) => {
    return { file, language, text: content };
  });
}

/** Files of `init` must equal those in the page; other files are written, with free ports. */
function write(file: string, text: string): void {
  const path = join(repo, file);
  if (existsSync(path)) return expect(readFileSync(path, "utf8"), file).toBe(text);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, withPorts(text));
}

/**
 * Runs the commands of a block and compares their output. Commands without output in the page, such
 * as a lint or an installation, must succeed.
 */
async function follow(text: string, tarball: string | undefined): Promise<void> {
  for (const step of text.split(/^\$ /m).slice(1)) {
    const [command = "", ...lines] = step.trimEnd().split("\n");
    if (command === START) {
      expectPrinted(command, await startService(), lines);
      continue;
    }
    const { status, stdout } = runProgram("bash", ["-c", `(${localOf(command, tarball)}) 2>&1`], {
      cwd: repo,
      env,
    });
    if (lines.length > 0) expectPrinted(command, stdout, lines);
    else expect({ command, status, stdout }).toMatchObject({ status: 0 });
  }
}

function expectPrinted(command: string, printed: string, lines: readonly string[]): void {
  // On a slow machine, the service logs that it is slow.
  const text = printed.replaceAll(/^\{[^\n]*"message":"slow query"\}\n/gm, "");
  expect(pageOf(text).trim(), command).toMatch(patternOf(lines));
}

async function startService(): Promise<string> {
  service = spawn("bash", ["-c", `exec ${START}`], { cwd: repo, env });
  const take = (chunk: Buffer): void => {
    log += chunk.toString();
  };
  service.stdout?.on("data", take);
  service.stderr?.on("data", take);
  await until("the service has started", () => log.includes('"message":"started"}\n'));
  return log;
}

async function stopService(): Promise<void> {
  const ended = once(service as ChildProcess, "exit");
  service?.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
}

/** The command of the page, for this machine: the packed package, and ports that are free. */
function localOf(command: string, tarball: string | undefined): string {
  const local =
    tarball === undefined
      ? command.replaceAll("npx ", "").replace(/^npm install .*/, "true")
      : command.replace(/(npm install) svc-access/, `$1 ${tarball}`);
  return withPorts(local);
}

function withPorts(text: string): string {
  return [...ports].reduce((result, [page, port]) => result.replaceAll(page, port), text);
}

function pageOf(text: string): string {
  return [...ports]
    .reduce((result, [page, port]) => result.replaceAll(port, page), text)
    .replace(/\r/g, "");
}

/** `…` matches any characters of a line, and on its own line any lines. */
function patternOf(expected: readonly string[]): RegExp {
  const lines = expected.map((line) => {
    if (line === "…") return "[\\s\\S]*";
    return line
      .split("…")
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
      .join("[^\\n]*");
  });
  return new RegExp(`^${lines.join("\\n")}$`);
}

function pack(): string {
  const args = ["pack", ROOT, "--ignore-scripts", "--pack-destination", folder, "--json"];
  const { status, stdout, stderr } = runProgram("npm", args, { cwd: folder, env });
  if (status !== 0) throw new Error(`npm pack: ${stderr}`);
  return join(folder, (JSON.parse(stdout) as [{ filename: string }])[0].filename);
}

async function freePort(page: string): Promise<[string, string]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return [page, String(port)];
}
