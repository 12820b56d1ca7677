/**
 * `bin/buf-plugin-svc-access` is both a shell script and a JavaScript file, and gives the same answers
 * as either.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHECK_ANSWERS } from "../../src/gen/check-answers.ts";
import { PROCEDURE } from "../../src/plugin/check-constants.ts";
import { answerCheck } from "../../src/plugin/check-plugin.ts";
import { ROOT } from "../support/workspace.ts";

const ENTRY = join(ROOT, "bin/buf-plugin-svc-access");
const NODE_FOLDER = dirname(process.execPath);
/** The shells of this machine that may be `/bin/sh`. */
const SHELLS = ["/bin/sh", "/bin/dash", "/bin/bash", "/bin/ksh", "/bin/zsh", "/bin/busybox"].filter(
  (path) => existsSync(path),
);

/** The exact result of a start of the plugin. */
interface Answer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(
  command: readonly string[],
  args: readonly string[],
  {
    input,
    path = NODE_FOLDER,
    env = {},
  }: { input?: Uint8Array; path?: string; env?: Readonly<Record<string, string>> } = {},
): Answer {
  const [program = "", ...first] = command;
  const { status, stdout, stderr, error } = spawnSync(program, [...first, ...args], {
    cwd: folder,
    input: input ?? new Uint8Array(),
    env: { PATH: [path, "/usr/bin", "/bin"].join(delimiter), ...env },
  });
  if (error !== undefined) throw error;
  return { status, stdout: stdout.toString("latin1"), stderr: stderr.toString("utf8") };
}

/** The answer of the program without a shell. */
function byNode(args: readonly string[], input?: Uint8Array): Answer {
  return start([process.execPath, ENTRY], args, input === undefined ? {} : { input });
}

let folder: string;
/** A folder of programs that has no Node.js. */
let withoutNode: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access entry "));
  withoutNode = join(folder, "programs");
  mkdirSync(withoutNode);
  for (const name of ["env", "sh"]) symlinkSync(`/usr/bin/${name}`, join(withoutNode, name));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CONSTANT: readonly (readonly string[])[] = [
  ["--protocol"],
  ["--spec"],
  ["--spec", "--format", "json"],
  ["--spec", "--format", "binary"],
  ...[PROCEDURE.listRules, PROCEDURE.listCategories, PROCEDURE.getPluginInfo].map((procedure) => [
    procedure,
    "--format",
    "binary",
  ]),
];

describe.each(CONSTANT)("constant answers: %s %s %s", (...args) => {
  test("a shell answers like Node.js, and without it", () => {
    const expected = byNode(args);
    expect(expected.status).toBe(0);
    expect(expected.stdout).not.toBe("");
    for (const shell of SHELLS) {
      const command = shell.endsWith("/busybox") ? [shell, "sh", ENTRY] : [shell, ENTRY];
      expect(start(command, args), shell).toEqual(expected);
    }
    const { status, stdout, error } = spawnSync(ENTRY, args, {
      env: { PATH: withoutNode },
      input: "",
    });
    expect(error).toBeUndefined();
    expect({ status, stdout: stdout.toString("latin1") }).toEqual({
      status: 0,
      stdout: expected.stdout,
    });
  });
});

test("the answers are the generated ones", () => {
  for (const [name, { binary, json }] of Object.entries(CHECK_ANSWERS)) {
    const first = name === "spec" ? "--spec" : name;
    const bytes = Buffer.from(binary, "base64").toString("latin1");
    expect(start([ENTRY], [first, "--format", "binary"]).stdout).toBe(bytes);
    const asJson = json === undefined ? bytes : `${json}\n`;
    expect(start([ENTRY], [first, "--format", "json"]).stdout).toBe(asJson);
  }
});

test.each([
  [[]],
  [["--help"]],
  [["-h"]],
  [["--protocol", "--format", "binary"]],
  [["--spec", "binary"]],
  [["--spec", "--format"]],
  [["--spec --format binary"]],
  [["--spec --format", "binary"]],
  [["--spec", "--format", "xml"]],
  [[PROCEDURE.listRules]],
  [[`${PROCEDURE.listRules} --format`, "binary"]],
  [[PROCEDURE.listRules, "--format", "json"]],
  [["/buf.plugin.check.v1.CheckService/NoSuch", "--format", "binary"]],
  [["*"]],
  [["$(touch made)"]],
  [["`touch made`", "--format", "binary"]],
  [['"; touch made; "', "--format", "binary"]],
  [["--spec", "--format", "binary;touch made"]],
  [["--spec\n--format\nbinary"]],
  [["--protocol\ntouch made"]],
])("%j is answered as by Node.js", (args) => {
  const before = readdirSync(folder);
  expect(start([ENTRY], args)).toEqual(byNode(args));
  expect(readdirSync(folder)).toEqual(before);
});

test("a file with another name in the working folder changes nothing", () => {
  writeFileSync(join(folder, "--protocol"), "");
  expect(start([ENTRY], ["*"]).status).toBe(2);
  rmSync(join(folder, "--protocol"));
});

describe("Check", () => {
  const args = [PROCEDURE.check, "--format", "binary"];

  test.each([
    ["an empty request", new Uint8Array()],
    ["text", Buffer.from("no request")],
    ["bytes of all values", Uint8Array.from({ length: 1 << 17 }, (_, index) => index % 256)],
  ])("has %s of standard input", async (_, input) => {
    const { response } = await answerCheck(input, folder);
    const answer = start([ENTRY], args, { input });
    expect(answer).toEqual(byNode(args, input));
    expect(answer.stdout).toBe(Buffer.from(response).toString("latin1"));
  });

  test("without Node.js reports what is missing", () => {
    const { status, stdout, stderr } = spawnSync(ENTRY, args, {
      env: { PATH: withoutNode },
      input: "",
    });
    expect({ status, stdout: stdout.toString() }).toEqual({ status: 127, stdout: "" });
    expect(stderr.toString()).toContain("node");
  });
});

describe("the code cache between starts", () => {
  const args = [PROCEDURE.check, "--format", "binary"];

  /** The file that holds it, below a folder of Node.js. */
  function kept(cache: string): string[] {
    const names = readdirSync(cache, { recursive: true, encoding: "utf8" });
    return names.filter((name) => name.endsWith(".cache")).map((name) => join(cache, name));
  }

  test.each([
    ["none", undefined],
    ["another file", Buffer.from("no code")],
    ["an empty file", Buffer.alloc(0)],
    ["zeros", Buffer.alloc(1 << 16)],
  ])("is made again if there is %s", (_, damage) => {
    const cache = mkdtempSync(join(folder, "cache "));
    const env = { NODE_COMPILE_CACHE: cache };
    const expected = byNode(args);
    expect(start([ENTRY], args, { env })).toEqual(expected);
    const [file = ""] = kept(cache);
    const code = readFileSync(file);
    if (damage !== undefined) {
      writeFileSync(file, damage);
      expect(start([ENTRY], args, { env })).toEqual(expected);
    }
    expect(start([ENTRY], args, { env })).toEqual(expected);
    expect(kept(cache)).toEqual([file]);
    expect(readFileSync(file).length).toBeGreaterThan(code.length / 2);
  });

  test.skipIf(process.platform === "win32")("is not run if others could have written it", () => {
    const cache = mkdtempSync(join(folder, "cache "));
    const env = { NODE_COMPILE_CACHE: cache };
    start([ENTRY], args, { env });
    const [file = ""] = kept(cache);
    chmodSync(file, 0o666);
    expect(start([ENTRY], args, { env })).toEqual(byNode(args));
    // It was made again, by this user.
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("is not kept after a request that could not be checked", () => {
    const cache = mkdtempSync(join(folder, "cache "));
    const env = { NODE_COMPILE_CACHE: cache };
    start([ENTRY], args, { env, input: Buffer.from("no request") });
    expect(kept(cache)).toEqual([]);
  });

  test("is not kept if Node.js has no cache", () => {
    const cache = mkdtempSync(join(folder, "cache "));
    const env = { NODE_COMPILE_CACHE: cache, NODE_DISABLE_COMPILE_CACHE: "1" };
    expect(start([ENTRY], args, { env })).toEqual(byNode(args));
    expect(kept(cache)).toEqual([]);
  });
});

describe("started by a package manager", () => {
  function starts(command: readonly string[]): void {
    for (const args of [
      [PROCEDURE.listCategories, "--format", "binary"],
      [PROCEDURE.check, "--format", "binary"],
    ]) {
      const expected = byNode(args);
      expect(expected).toMatchObject({ status: 0, stderr: "" });
      expect(start(command, args)).toEqual(expected);
    }
  }

  function write(name: string, script: string): string {
    const path = join(folder, name);
    writeFileSync(path, script);
    chmodSync(path, 0o755);
    return path;
  }

  test("through a link, or a link to a link, from a path with spaces and quotes", () => {
    const bin = join(folder, `it's "node modules"`, ".bin");
    mkdirSync(bin, { recursive: true });
    symlinkSync(ENTRY, join(bin, "direct"));
    symlinkSync("direct", join(bin, "buf-plugin-svc-access"));
    starts([join(bin, "buf-plugin-svc-access")]);
    starts([join(folder, `./it's "node modules"/../it's "node modules"/.bin/direct`)]);
  });

  test("by its name on PATH", () => {
    const links = join(folder, "on path");
    mkdirSync(links);
    symlinkSync(ENTRY, join(links, "buf-plugin-svc-access"));
    const args = [PROCEDURE.check, "--format", "binary"];
    const path = `${links}${delimiter}${NODE_FOLDER}`;
    const answer = start(["/usr/bin/env", "buf-plugin-svc-access"], args, { path });
    expect(answer).toEqual(byNode(args));
  });

  test("by a script that gives it to a shell, as pnpm's does", () => {
    starts([write("pnpm", `#!/bin/sh\nexec /bin/sh "${ENTRY}" "$@"\n`)]);
  });

  test("by a script that gives it to Node.js, as Yarn's does", () => {
    starts([write("yarn", `#!/bin/sh\nexec "${process.execPath}" '${ENTRY}' "$@"\n`)]);
  });
});
