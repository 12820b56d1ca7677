/**
 * `bin/buf-plugin-svc-access` is both a shell script and a JavaScript file, and gives the same answers
 * as either.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHECK_ANSWERS } from "../../src/gen/check-answers.ts";
import { PROCEDURE } from "../../src/plugin/check-constants.ts";
import { answerCheck } from "../../src/plugin/check-plugin.ts";
import { columnsOf } from "../support/effort.ts";
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

const known = new Map<string, Answer>();

/** The answer of the program without a shell; without an input it starts once for the same arguments. */
function byNode(args: readonly string[], input?: Uint8Array): Answer {
  const command = [process.execPath, ENTRY];
  if (input !== undefined) return start(command, args, { input });
  const key = JSON.stringify(args);
  const answer = known.get(key) ?? start(command, args);
  known.set(key, answer);
  return answer;
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

describe.each(columnsOf(CONSTANT, 0, 3))("constant answers: %s %s %s", (...args) => {
  test("a shell responds like Node.js, without starting it", () => {
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
    return names.filter((name) => /[^/]\.cache$/.test(name)).map((name) => join(cache, name));
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

  /** A start that has kept its code in a folder of the user's choice. */
  function begin(): { env: Readonly<Record<string, string>>; file: string } {
    const env = { XDG_CACHE_HOME: mkdtempSync(join(folder, "cache ")) };
    expect(start([ENTRY], args, { env })).toEqual(byNode(args));
    const [file = ""] = kept(env.XDG_CACHE_HOME);
    expect(file).not.toBe("");
    return { env, file };
  }

  describe.skipIf(process.platform === "win32")("against other users", () => {
    test("is named after the code, and only the user may read it", () => {
      const { file } = begin();
      const chunks = join(ROOT, "dist/chunks");
      const [code = ""] = readdirSync(chunks).filter((name) => /^check-plugin-\w+\.js$/.test(name));
      const hash = createHash("sha256")
        .update(readFileSync(join(chunks, code)))
        .digest("hex");
      expect(basename(file)).toContain(`-${hash.slice(0, 32)}-`);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
      expect(readdirSync(dirname(file))).toEqual([basename(file)]);
    });

    test.each([
      ["a link", symlinkSync],
      ["a hard link", linkSync],
    ])("is not run if it is %s", (_, link) => {
      const { env, file } = begin();
      const other = join(folder, `${Math.random()} other`);
      renameSync(file, other);
      const before = statSync(other);
      link(other, file);
      expect(start([ENTRY], args, { env })).toEqual(byNode(args));
      expect(lstatSync(file)).toMatchObject({ nlink: 1, mode: 0o100600 });
      expect(lstatSync(file).ino).not.toBe(before.ino);
      expect(statSync(other).mtimeMs).toBe(before.mtimeMs);
    });

    test("is not run if it is a named pipe", () => {
      const { env, file } = begin();
      rmSync(file);
      expect(spawnSync("mkfifo", [file]).status).toBe(0);
      expect(start([ENTRY], args, { env })).toEqual(byNode(args));
      expect(lstatSync(file).isFile()).toBe(true);
    });

    test.runIf(process.geteuid?.() === 0)("is not run if another user owns it", () => {
      const { env, file } = begin();
      chownSync(file, 12_345, 12_345);
      expect(start([ENTRY], args, { env })).toEqual(byNode(args));
      expect(statSync(file).uid).toBe(0);
    });

    /** What others can do to the folder, or to the one around it, before the first start. */
    const UNSAFE: readonly (readonly [string, (inside: string) => unknown])[] = [
      ["the group may write to its folder", (inside) => chmodSync(inside, 0o770)],
      ["others may write to its folder", (inside) => chmodSync(inside, 0o707)],
      ["others may write to its folder, which is sticky", (inside) => chmodSync(inside, 0o1777)],
      ["others may replace its folder", (inside) => chmodSync(dirname(inside), 0o777)],
      [
        "its folder is a link",
        (inside) => {
          renameSync(inside, `${inside} moved`);
          symlinkSync(`${inside} moved`, inside);
        },
      ],
    ];

    test.each(UNSAFE)("is neither run nor kept if %s", (_, change) => {
      const { env, file } = begin();
      const time = new Date(0);
      change(dirname(file));
      // What is not code would be replaced, if the file were used.
      writeFileSync(file, "no code");
      utimesSync(file, time, time);
      expect(start([ENTRY], args, { env })).toEqual(byNode(args));
      expect(statSync(file).mtimeMs).toBe(0);
      rmSync(file);
      expect(start([ENTRY], args, { env })).toEqual(byNode(args));
      expect(existsSync(file)).toBe(false);
    });

    test("is not kept in a folder of Node.js to which others may write", () => {
      const cache = mkdtempSync(join(folder, "cache "));
      const env = { NODE_COMPILE_CACHE: cache };
      start([ENTRY], args, { env });
      const [file = ""] = kept(cache);
      rmSync(file);
      chmodSync(dirname(file), 0o777);
      expect(start([ENTRY], args, { env })).toEqual(byNode(args));
      expect(kept(cache)).toEqual([]);
    });

    test("is kept in a folder of the user in a shared one, as /tmp is", () => {
      const { env, file } = begin();
      rmSync(file);
      chmodSync(env["XDG_CACHE_HOME"] ?? "", 0o1777);
      start([ENTRY], args, { env });
      expect(existsSync(file)).toBe(true);
    });

    test("is not written through an existing file", () => {
      const cache = mkdtempSync(join(folder, "cache "));
      const env = { NODE_COMPILE_CACHE: cache };
      start([ENTRY], args, { env });
      const [file = ""] = kept(cache);
      rmSync(file);
      const victim = join(folder, "victim");
      writeFileSync(victim, "precious");
      // The shell gives its process to Node.js.
      const script = 'ln -s "$VICTIM" "$CACHE.$$"; exec "$NODE" "$ENTRY" "$@"';
      const planted = { ...env, VICTIM: victim, CACHE: file, NODE: process.execPath, ENTRY };
      const answer = start(["/bin/sh", "-c", script, "sh"], args, { env: planted });
      expect(answer).toEqual(byNode(args));
      expect(readFileSync(victim, "utf8")).toBe("precious");
      expect(lstatSync(file).isFile()).toBe(true);
    });

    test("leaves no partial file if it cannot be kept", () => {
      const { env, file } = begin();
      rmSync(file);
      mkdirSync(join(file, "in the way"), { recursive: true });
      expect(start([ENTRY], args, { env })).toEqual(byNode(args));
      expect(readdirSync(dirname(file))).toEqual([basename(file)]);
    });
  });

  test.skipIf(process.platform === "win32")("is below the home of the user", () => {
    const home = mkdtempSync(join(folder, "home "));
    const temporary = mkdtempSync(join(folder, "temporary "));
    const env = { HOME: home, TMPDIR: temporary, XDG_CACHE_HOME: "relative" };
    expect(start([ENTRY], args, { env })).toEqual(byNode(args));
    const [file = "", ...others] = kept(home);
    expect(dirname(file)).toBe(join(home, ".cache/svc-access"));
    expect(others).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test.each([
    ["is missing", { HOME: "/nowhere/at all" }],
    ["is empty", { HOME: "" }],
    ["is relative", { HOME: "." }],
    ["is not known", {}],
  ])("is not kept if the home %s", (_, home) => {
    const temporary = mkdtempSync(join(folder, "temporary "));
    const before = readdirSync(folder);
    const env = { ...home, TMPDIR: temporary };
    expect(start([ENTRY], args, { env })).toEqual(byNode(args));
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(folder)).toEqual(before);
    expect(existsSync("/nowhere")).toBe(false);
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
    const own = { XDG_CACHE_HOME: cache, NODE_DISABLE_COMPILE_CACHE: "1" };
    expect(start([ENTRY], args, { env: own })).toEqual(byNode(args));
    expect(readdirSync(cache)).toEqual([]);
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
