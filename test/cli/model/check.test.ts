import { expect, test } from "vitest";
import { DOCUMENTS, useModelFolder } from "./model-folder.ts";

const { write, run } = useModelFolder();

test("a model without errors is counted", () => {
  const { status, stdout } = run("check", write("docs.zed", DOCUMENTS));
  expect(stdout).toBe("3 definitions, 2 permissions: 0 errors\n");
  expect(status).toBe(0);
});

test("errors have positions, and the exit code is 1", () => {
  const text = "definition user {}\ndefinition doc {\n  relation owner: usr\n}\n";
  const { status, stdout } = run("check", write("wrong.zed", text));
  expect(stdout).toMatch(/^wrong\.zed:3:19: [^\n]*did you mean "user"[^\n]*\n2 definitions, /);
  expect(status).toBe(1);
});

test("as JSON and for GitHub Actions", () => {
  const name = write("wrong.zed", "definition user {}\ndefinition user {}\n");
  const json = run("check", "--format", "json", name);
  expect(json.status).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    findings: [{ file: "wrong.zed", line: 2, column: 12, severity: "error" }],
  });
  expect(run("check", "--format", "github-actions", name).stdout).toMatch(
    /^::error file=wrong\.zed,line=2,col=12,/,
  );
});

test("an unreadable file is a usage error of one line", () => {
  for (const args of [["missing.zed"], ["."], []]) {
    const { status, stdout, stderr } = run("check", ...args);
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).not.toBe("");
  }
  expect(run("check", "missing.zed").stderr).toBe(
    "svc-access: the model missing.zed does not exist; create it, or name another file\n",
  );
});

test("model without a command, or with an unknown one, is a usage error", () => {
  expect(run().status).toBe(2);
  expect(run("chek").status).toBe(2);
  for (const command of ["check", "test", "diff", "explain"]) {
    const { status, stdout } = run(command, "--help");
    expect(status).toBe(0);
    expect(stdout).toContain("Examples:");
  }
});
