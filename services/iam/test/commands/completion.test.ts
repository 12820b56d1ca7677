/** `svc-iam completion`, in a real bash. */
import { expect, test } from "vitest";
import { runProgram } from "../../../../test/support/programs.ts";
import { completionsOf } from "../../src/commands/completion/print-completion.ts";
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
  expect(all.find(({ path }) => path === "")?.words).toEqual(
    expect.arrayContaining(["serve", "login", "user", "--version", "--help"]),
  );
  expect(all.find(({ path }) => path === "service-account key")?.words).toEqual([
    "list",
    "create",
    "delete",
    "--help",
  ]);
  for (const { path, words } of all) {
    for (const word of [...path.split(" "), ...words]) expect(word).toMatch(/^[a-z-]*$/);
  }
});

const LINES: readonly [string, RegExp][] = [
  ["svc-iam us", /^user$/],
  ["svc-iam user ", /^list get create .*--help$/],
  ["svc-iam service-account key l", /^list$/],
  ["svc-iam user create --em", /^--email$/],
  ["svc-iam check user:alice --ex", /^--explain$/],
  ["svc-iam who", /^who-can$/],
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
  ["zsh", /^#compdef svc-iam\n/],
  ["fish", /^function __svc_iam_path\n/],
])("there is a script for %s [CMD-6]", async (shell, expected) => {
  const { status, stdout } = await run("completion", shell);
  expect([status, stdout]).toEqual([0, expect.stringMatching(expected)]);
  expect(stdout).toContain("service-account key");
});
