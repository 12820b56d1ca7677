import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Outcome } from "../../support/programs.ts";
import { runSvcAccess } from "../../support/svc-access.ts";

/** A folder of files for the tests of a file, in which `svc-access model` runs. */
export interface ModelFolder {
  /** Writes a file and returns its name. */
  write(name: string, text: string): string;
  /** The path of a file there. */
  path(name: string): string;
  /** Runs `svc-access model …` there. */
  run(...args: string[]): Outcome;
}

/** Makes a folder before all tests of the file, and removes it after them. */
export function useModelFolder(): ModelFolder {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "svc-access-model-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    write(name, text) {
      writeFileSync(join(folder, name), text);
      return name;
    },
    path: (name) => join(folder, name),
    run: (...args) => runSvcAccess(["model", ...args], { cwd: folder }),
  };
}

/** A model of documents with an exclusion, a wildcard, groups and an arrow. */
export const DOCUMENTS = `definition user {}

definition group {
  relation member: user | group#member
}

definition doc {
  relation parent: doc
  relation owner: user | group#member
  relation viewer: user | user:* | group#member
  relation banned: user

  permission edit = owner + parent->edit
  permission view = (viewer + edit) - banned
}
`;
