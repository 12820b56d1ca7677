/** A wrong use of any command is one line that says what to do, and exits with 2. */
import { describe, expect, test } from "vitest";
import { runSvcAccess } from "../support/svc-access.ts";

describe("a misspelt name is answered with the one that was meant", () => {
  test.each<[args: string[], message: string]>([
    [["lnt"], 'unknown command "lnt"; did you mean "lint"?'],
    [["l\nnt"], 'unknown command "l\\u000ant"; did you mean "lint"?'],
    [["help", "lnt"], 'unknown command "lnt"; did you mean "lint"?'],
    [["modle", "merge"], 'unknown command "modle"; did you mean "model"?'],
    [["model", "mrge"], 'unknown command "mrge"; did you mean "merge"?'],
    [["model", "mrge", "--output", "a"], 'unknown command "mrge"; did you mean "merge"?'],
    [["model", "help", "mrge"], 'unknown command "mrge"; did you mean "merge"?'],
    [["auidt", "list"], 'unknown command "auidt"; did you mean "audit"?'],
    [["help", "databse"], 'unknown command "databse"; did you mean "database"?'],
    [["relationships", "list"], 'unknown command "relationships"; did you mean "relationship"?'],
    [["audit", "exprot"], 'unknown command "exprot"; did you mean "export"?'],
    [["database", "migrat"], 'unknown command "migrat"; did you mean "migrate"?'],
    [["relationship", "tuoch"], 'unknown command "tuoch"; did you mean "touch"?'],
    [["--hepl"], 'unknown option "--hepl"; did you mean "--help"?'],
    [["--verison"], 'unknown option "--verison"; did you mean "--version"?'],
    [["model", "--hepl"], 'unknown option "--hepl"; did you mean "--help"?'],
    [["lint", ".", "--strickt"], 'unknown option "--strickt"; did you mean "--strict"?'],
    [["lint", ".", "--fromat=json"], 'unknown option "--fromat"; did you mean "--format"?'],
    [["model", "merge", "--ouput", "a"], 'unknown option "--ouput"; did you mean "--output"?'],
    [["audit", "list", "--sotre", "a"], 'unknown option "--sotre"; did you mean "--store"?'],
  ])("svc-access %j", (args, message) => {
    expect(runSvcAccess(args)).toEqual({
      status: 2,
      stdout: "",
      stderr: `svc-access: ${message}\n`,
    });
  });
});

describe("what nobody can guess names the command that helps", () => {
  test.each<[args: string[], message: string]>([
    [["frobnicate"], 'unknown command "frobnicate"; svc-access --help lists the commands'],
    [["model", "x"], 'unknown command "x"; svc-access model --help lists the commands'],
    [["audit", "x"], 'unknown command "x"; svc-access audit --help lists the commands'],
    [["-x"], 'unknown option "-x"; svc-access --help shows the usage'],
    // Only the dashes are those of an option.
    [["--qq"], 'unknown option "--qq"; svc-access --help shows the usage'],
    [
      ["audit", "list", "--url=postgres://a:s3cret@db/x"],
      'unknown option "--url"; svc-access audit list --help shows the usage',
    ],
    [
      ["model", "merge"],
      "missing required argument 'file'; svc-access model merge --help shows the usage",
    ],
    [
      ["generate", "."],
      "required option '--out <folder>' not specified; svc-access generate --help shows the usage",
    ],
    [
      ["model", "merge", "a.zed", "--output"],
      "option '--output <file>' argument missing; svc-access model merge --help shows the usage",
    ],
    [
      ["model", "merge", "a.zed", "--format", "xml"],
      "option '--format <format>' argument 'xml' is invalid. Allowed choices are text, json; " +
        "svc-access model merge --help shows the usage",
    ],
    [
      ["init", "a", "b"],
      "too many arguments for 'init'. Expected 1 argument but got 2; svc-access init --help shows the usage",
    ],
    [
      ["database", "migrate"],
      "required option '--config <file>' not specified; svc-access database migrate --help shows the usage",
    ],
  ])("svc-access %j", (args, message) => {
    expect(runSvcAccess(args)).toEqual({
      status: 2,
      stdout: "",
      stderr: `svc-access: ${message}\n`,
    });
  });
});

test.each([[[]], [["model"]], [["audit"]], [["database"]], [["relationship"]]])(
  "svc-access %j without a command prints its help as an error",
  (args) => {
    const { status, stdout, stderr } = runSvcAccess(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^Usage: svc-access /);
  },
);

test.each([[["help"]], [["model", "help"]], [["model", "help", "merge"]], [["audit", "help"]]])(
  "svc-access %j prints the help",
  (args) => {
    const { status, stdout, stderr } = runSvcAccess(args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: svc-access /);
  },
);
