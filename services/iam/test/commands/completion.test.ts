/** `svc-iam completion`, in a real bash, and in a real zsh and fish where they are installed. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../../test/support/programs.ts";
import { completionsOf, FILE } from "../../src/commands/completion/completions.ts";
import { createProgram } from "../../src/program.ts";
import { runIam } from "../support/run-program.ts";

const run = (...args: readonly string[]) => runIam(args);

test("an unknown shell is refused with those that are known [CMD-3]", async () => {
  const { status, stdout, stderr } = await run("completion", "csh");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^svc-iam: error: .*'csh' is invalid.*bash, zsh, fish.*\n$/);
});

test("all commands and flags are completed, by words that no shell interprets [CMD-6]", () => {
  const all = completionsOf(createProgram());
  const of = (path: string) => all.find((one) => one.path === path);
  expect(of("")?.words).toEqual(
    expect.arrayContaining(["serve", "login", "whoami", "token", "user"]),
  );
  expect(of("")?.flags).toEqual(["--version", "--help"]);
  expect(of("service-account key")).toMatchObject({
    words: ["list", "create", "delete"],
    flags: ["--help"],
  });
  // Former names of flags are not shown.
  expect(of("group update")?.flags).not.toContain("--name");
  for (const { path, words, flags, values } of all) {
    for (const word of [...path.split(" "), ...words, ...flags, ...[...values.values()].flat()]) {
      if (word !== FILE) expect(word).toMatch(/^[A-Za-z-]*$/);
    }
  }
});

const LINES: readonly [string, RegExp][] = [
  ["svc-iam us", /^user$/],
  ["svc-iam user ", /^list get create [a-z -]*remove-factors$/],
  ["svc-iam user -", /^--help$/],
  ["svc-iam whoami ", /^--format --help$/],
  // Values, and no flags, where a value belongs.
  ["svc-iam user list --format ", /^text json$/],
  ["svc-iam user list --format j", /^json$/],
  ["svc-iam user list --limit ", /^$/],
  ["svc-iam user list --limit 5 --fo", /^--format$/],
  ["svc-iam user get ", /^$/],
  ["svc-iam audit query --risk-level ", /^LOW MEDIUM HIGH CRITICAL$/],
  ["svc-iam completion ", /^bash zsh fish$/],
  ["svc-iam service-account key l", /^list$/],
  ["svc-iam user create --em", /^--email$/],
  ["svc-iam check user:alice --ex", /^--explain$/],
  ["svc-iam who-", /^who-can$/],
];

test.each(LINES)("bash completes %j [CMD-6]", async (line, expected) => {
  const script = await run("completion", "bash");
  expect(script.status).toBe(0);
  const complete = `${script.stdout}
    COMP_WORDS=(${line}); [[ "${line}" == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _svc_iam; echo "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = runProgram("bash", ["-c", complete]);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout.trim()).toMatch(expected);
});

test.each([
  ["svc-iam serve serv", "service.yaml"],
  ["svc-iam relationship import serv", "service.yaml"],
  ["svc-iam user list --offline serv", "service.yaml"],
  ["svc-iam user get serv", ""],
  ["svc-iam user list --format = j", "json"],
])(
  "bash completes files only where a file belongs, and the value after =: %j [CMD-6]",
  async (line, expected) => {
    const { stdout: script } = await run("completion", "bash");
    const complete = `${script}
    cd ${join(import.meta.dirname, "../..")}; COMP_WORDS=(${line})
    COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _svc_iam; echo "\${COMPREPLY[@]}"`;
    const { status, stdout, stderr } = runProgram("bash", ["-c", complete]);
    expect([status, stderr, stdout.trim()]).toEqual([0, "", expected]);
  },
);

test("bash does not sort what it shows, if it can do that [CMD-6]", async () => {
  const { stdout: script } = await run("completion", "bash");
  const shown = (before: string) =>
    runProgram("bash", ["-c", `${before}\n${script}\ncomplete -p svc-iam`]);
  expect(shown("")).toMatchObject({ status: 0, stdout: expect.stringContaining("-o nosort") });
  // As bash 3.2 of macOS does.
  const old = 'complete() { [[ "$*" != *nosort* ]] && builtin complete "$@"; }';
  const expected = "complete -o filenames -F _svc_iam svc-iam\n";
  expect(shown(old)).toMatchObject({ status: 0, stdout: expected, stderr: "" });
});

/** Whether a shell is installed; the name of the test says which one was not. */
const isAbsent = (shell: string) => spawnSync(shell, ["-c", "exit 0"]).status !== 0;

describe.skipIf(isAbsent("fish"))("in a real fish", () => {
  test.each(LINES)("%j is completed [CMD-6]", async (line, expected) => {
    const { stdout: script } = await run("completion", "fish");
    const complete = `${script}\ncomplete -C '${line}'`;
    const { status, stdout, stderr } = runProgram("fish", ["--no-config", "-c", complete]);
    expect([status, stderr]).toEqual([0, ""]);
    // A flag has a description after a tab.
    const words = stdout.split("\n").map((one) => one.split("\t")[0]);
    expect(words.join(" ").trim()).toMatch(expected);
  });
});

describe.skipIf(isAbsent("zsh"))("in a real zsh", () => {
  test.each(LINES)("%j is completed [CMD-6]", async (line, expected) => {
    const { stdout: script } = await run("completion", "zsh");
    const typed = line.split(" ");
    const last = typed.at(-1) ?? "";
    // What zsh itself would sort without a group of -V, and filter by the last word.
    const complete = `compdef() { : }
compadd() {
  local -a given=("\${@[\${@[(i)--]}+1,-1]}")
  [[ "$1" = -V ]] && print -r -- $given || print -r -- \${(o)given}
}
${script}
words=(${typed.map((one) => `'${one}'`).join(" ")}); CURRENT=\${#words}; _svc_iam`;
    const { status, stdout, stderr } = runProgram("zsh", ["-f", "-c", complete]);
    expect([status, stderr]).toEqual([0, ""]);
    const words = stdout.trim().split(" ");
    expect(words.filter((one) => one.startsWith(last)).join(" ")).toMatch(expected);
  });
});

test.skipIf(isAbsent("zsh"))("zsh without its completion loads it", async () => {
  const { stdout: script } = await run("completion", "zsh");
  // Not the list of functions of whoever runs this.
  const lines = `ZDOTDIR=$(mktemp -d)\n${script}\nprint -r -- $_comps[svc-iam]\nrm -r $ZDOTDIR`;
  const { status, stdout, stderr } = runProgram("zsh", ["-f", "-c", lines]);
  expect([status, stdout, stderr]).toEqual([0, "_svc_iam\n", ""]);
});

test.each([
  ["zsh", /^#compdef svc-iam\n/],
  ["fish", /^function __svc_iam_words\n/],
])("there is a script for %s [CMD-6]", async (shell, expected) => {
  const { status, stdout } = await run("completion", shell);
  expect([status, stdout]).toEqual([0, expect.stringMatching(expected)]);
  expect(stdout).toContain("service-account key");
});
