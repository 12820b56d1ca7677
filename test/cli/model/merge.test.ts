/** `svc-access model merge`: the platform's model of those of its services. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../support/workspace.ts";
import { useModelFolder } from "./model-folder.ts";

const { write, run, path } = useModelFolder();

const HUB = `// The hub's.
definition user {}
definition group {
  relation member: user | group#member
}
definition skill {
  relation owner: user | group#member
  permission edit = owner
}
`;

const BILLS = `definition group { relation member: group#member | user
}
definition user {}
definition bill {
  relation payer: group#member
  permission settle = payer
}
`;

describe("models that agree [MODEL-4]", () => {
  test("become one, with each definition once and where it comes from", () => {
    write("hub.zed", HUB);
    write("bills.zed", BILLS);
    const { status, stdout, stderr } = run("merge", "hub.zed", "bills.zed");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toBe(`// Made by svc-access model merge from bills.zed, hub.zed. DO NOT EDIT.
// From bills.zed.
definition bill {
  relation payer: group#member

  permission settle = payer
}

// From bills.zed, hub.zed.
definition group {
  relation member: group#member | user
}

// From hub.zed.
definition skill {
  relation owner: user | group#member

  permission edit = owner
}

// From bills.zed, hub.zed.
definition user {}
`);
    expect(run("merge", "bills.zed", "hub.zed", "hub.zed").stdout).toBe(stdout);
    write("merged.zed", stdout);
    expect(run("check", "merged.zed").status).toBe(0);
  });

  test("are written to a file, and counted", () => {
    write("hub.zed", HUB);
    write("bills.zed", BILLS);
    const { status, stdout } = run("merge", "hub.zed", "bills.zed", "--output", "platform.zed");
    expect(stdout).toBe("4 definitions of 2 models in platform.zed\n");
    expect(status).toBe(0);
    expect(readFileSync(path("platform.zed"), "utf8")).toBe(
      run("merge", "hub.zed", "bills.zed").stdout,
    );
  });

  test("are JSON on request", () => {
    write("hub.zed", HUB);
    const { status, stdout } = run("merge", "--format", "json", "hub.zed");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      findings: [],
      model: run("merge", "hub.zed").stdout,
    });
  });

  test("the IAM model among them", () => {
    write("own.zed", "definition user {}\ndefinition bill { relation payer: user\n}\n");
    const { status, stdout } = run("merge", join(ROOT, "model/iam.zed"), "own.zed");
    expect(status).toBe(0);
    write("merged.zed", stdout);
    expect(run("diff", join(ROOT, "model/iam.zed"), "merged.zed").stdout).toMatch(
      /^added definition bill|bill/m,
    );
  });
});

describe("models that contradict each other [MODEL-4]", () => {
  test("are conflicts that name both places and the fix, and nothing is written", () => {
    write("hub.zed", HUB);
    write(
      "other.zed",
      "definition user {}\n\ndefinition  skill {\n  relation owner: user\n  permission edit = owner\n  permission view = owner\n}\ndefinition group { relation leader: user\n}\n",
    );
    const { status, stdout, stderr } = run("merge", "other.zed", "hub.zed", "--output", "no.zed");
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(
      stderr,
    ).toBe(`other.zed:3:13: the definition skill differs in owner, view; the other is at hub.zed:6:12; make both the same, or give one of them another name (MODEL_MERGE_CONFLICT)
other.zed:8:12: the definition group differs in leader, member; the other is at hub.zed:3:12; make both the same, or give one of them another name (MODEL_MERGE_CONFLICT)
svc-access: 2 conflicts; nothing is merged
`);
    expect(existsSync(path("no.zed"))).toBe(false);
  });

  test("are findings in JSON", () => {
    write("hub.zed", HUB);
    write("other.zed", "definition user { relation self_made: user\n}\n");
    const { status, stdout } = run("merge", "--format", "json", "hub.zed", "other.zed");
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      findings: [{ file: "other.zed", line: 1, column: 12, rule: "MODEL_MERGE_CONFLICT" }],
    });
  });

  test("a caveat and a definition of one name are a conflict", () => {
    write("one.zed", "definition office {}\n");
    write("two.zed", "caveat office(hour int) { hour > 8 }\ndefinition user {}\n");
    const { status, stderr } = run("merge", "one.zed", "two.zed");
    expect(status).toBe(1);
    expect(stderr).toContain("office is a caveat here and a definition there");
  });
});

test.each([
  ["a file that is missing", ["missing.zed"], "does not exist"],
  ["no file", [], "missing required argument"],
  ["a model with errors", ["wrong.zed"], 'wrong.zed:1:34: no definition is called "nobody"'],
  ["an output that is an input", ["hub.zed", "--output", "hub.zed"], "is one of the models"],
])("%s is a usage error", (_, args, message) => {
  write("hub.zed", HUB);
  write("wrong.zed", "definition doc { relation owner: nobody\n}\n");
  const { status, stdout, stderr } = run("merge", ...args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr.replace(/\n.*/s, "")).toContain(message.replace(/^.*: /, ""));
});
