/** `examples/notes` is the output of `init --service notes`; `npm run check` compares its sources. */
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InstalledRepository } from "../support/installed-repository.ts";
import { runProgram } from "../support/programs.ts";
import { ROOT } from "../support/workspace.ts";

const NOTES = join(ROOT, "examples/notes");

test("the starter passes all lint rules, its committed gen is up to date, and its tests of handlers and of the whole server pass [COMP-10]", () => {
  using repo = new InstalledRepository();
  for (const name of readdirSync(NOTES).filter((one) => one !== "node_modules")) {
    cpSync(join(NOTES, name), join(repo.folder, name), { recursive: true });
  }
  rmSync(join(repo.folder, "gen"), { recursive: true });
  // Neither the service nor its tests depend on the working folder.
  const elsewhere = { cwd: tmpdir() };
  const main = join(repo.folder, "src/main.ts");
  const { status: early, stderr } = runProgram("node", [main], elsewhere);
  expect(early).toBe(2);
  expect(stderr).toMatch(
    /^the server does not start: the routes \S+\/gen\/routes\/notes\.json cannot be read \(ENOENT\): run buf generate, and name .*\n$/,
  );

  const bufYaml = readFileSync(join(repo.folder, "buf.yaml"), "utf8");
  expect(bufYaml).toContain("    - ACCESS\n");
  const all = bufYaml.replace(
    "    - ACCESS\n",
    "    - ACCESS\n    - COMMENTS\n    - ACCESS_RECOMMENDED\n",
  );
  repo.write("buf.yaml", all);
  expect(repo.run("buf", "lint")).toMatchObject({ status: 0, stdout: "" });
  repo.must("buf", "generate");
  expect(contents(join(repo.folder, "gen"))).toEqual(contents(join(NOTES, "gen")));
  expect(repo.run("tsc")).toMatchObject({ status: 0, stdout: "" });
  const tests = ["--test", "--test-reporter=tap", join(repo.folder, "test/*.test.ts")];
  const { status, stdout } = runProgram("node", tests, elsewhere);
  expect({ status, stdout }).toMatchObject({ status: 0 });
  expect(stdout).toContain("# pass 5\n");
  expect(stdout).toContain("# fail 0\n");
}, 240_000);

function contents(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path) => [path.slice(folder.length), readFileSync(path, "utf8")]),
  );
}
