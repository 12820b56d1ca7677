/** What all commands of `svc-iam` have in common. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { columnsOf } from "../../../../test/support/effort.ts";
import { runProgram } from "../../../../test/support/programs.ts";
import { ROOT } from "../../../../test/support/workspace.ts";
import { createProgram } from "../../src/program.ts";
import { MAIN, runIam } from "../support/run-program.ts";

const WRONG: readonly [string, readonly string[], RegExp][] = [
  [
    "a configuration that does not exist",
    ["none.yaml"],
    /^svc-iam: none\.yaml does not exist in \S+; name the configuration file\n$/,
  ],
  [
    "an unknown flag",
    ["--nothing"],
    /^svc-iam: error: unknown option '--nothing' \(--help shows the usage\)\n$/,
  ],
];
const COMMANDS = ["serve", "migrate", "rewrap", "bootstrap", "end-sessions"];

describe.each(COMMANDS.map((name, turn) => ({ name, turn })))("svc-iam $name", ({ name, turn }) => {
  test.each(columnsOf(WRONG, turn, 2))(
    "says with its name what is wrong: %s",
    async (_, args, message) => {
      const { status, stdout, stderr } =
        name === "serve"
          ? runProgram(process.execPath, [MAIN, name, ...args])
          : await runIam([name, ...args]);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/^ +at /m);
    },
  );
});

/** The commands that do something, by their names. */
function leaves(command: Command, above: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[above.join(" "), command]];
  return command.commands.flatMap((child) => leaves(child, [...above, child.name()]));
}

const LEAVES = leaves(createProgram());
/** They print nothing, JSON or a script. */
const WITHOUT_FORMAT = ["serve", "config print", "completion"];

test.each(LEAVES)(
  "svc-iam %s has help with examples and exit codes, and --format",
  (name, command) => {
    let help = "";
    command.configureOutput({ writeOut: (text) => void (help += text) });
    command.outputHelp();
    expect(help).toMatch(/^Examples:\n {2}(?:.*\| )?.*svc-iam /m);
    expect(help).toMatch(/^Exit codes: 0 /m);
    expect(/--format <format>/.test(help)).toBe(!WITHOUT_FORMAT.includes(name));
  },
);

test("svc-iam --version prints the version of this repository", () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(runProgram(process.execPath, [MAIN, "--version"])).toEqual({
    status: 0,
    stdout: `${version}\n`,
    stderr: "",
  });
});

/** Prints what is resolved, on standard error. */
const SHOW_IMPORTS = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({ resolve(name, context, next) { console.error(name); return next(name, context); } });
`)}`;

test.each([["--version"], ["--help"], ["relationship", "--help"], ["check", "user:alice"]])(
  "svc-iam %s loads the parser of arguments and nothing else of packages",
  (...args) => {
    const { stderr } = runProgram(process.execPath, ["--import", SHOW_IMPORTS, MAIN, ...args]);
    const packages = stderr
      .split("\n")
      .filter((name) => /^(?:@[a-z]|[a-z][\w-]*(?:\/|$))/.test(name));
    expect(new Set(packages)).toEqual(new Set(["commander"]));
  },
);
