/** Every command of both programs has help and a version. */
import { describe, expect, test } from "vitest";
import { version } from "../../src/common/version.ts";
import { runProgram } from "../support/programs.ts";

const COMMANDS = [
  ...["lint", "generate", "routes", "explain", "init", "model"],
  ...["audit", "relationship", "database"],
];

describe.each(COMMANDS)("svc-access %s", (command) => {
  test("has the same help in both ways", () => {
    const asked = runProgram("svc-access", ["help", command]);
    expect(asked).toMatchObject({ status: 0, stderr: "" });
    expect(asked.stdout).toMatch(new RegExp(`^Usage: svc-access ${command} `));
    expect(runProgram("svc-access", [command, "--help"])).toEqual(asked);
  });

  test("knows the version", () => {
    const expected = { status: 0, stdout: `${version}\n`, stderr: "" };
    expect(runProgram("svc-access", [command, "--version"])).toEqual(expected);
  });
});
