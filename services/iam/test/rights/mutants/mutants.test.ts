import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { columnsOf } from "../../../../../test/support/effort.ts";
import { ACCOUNT_MUTANTS } from "./account-mutants.ts";
import { ELSEWHERE } from "./elsewhere.ts";
import type { Mutant } from "./mutant.ts";
import type { Search, SearchResult } from "./mutant-thread.ts";
import { PLACE_MUTANTS } from "./place-mutants.ts";
import { RELATIONSHIP_MUTANTS } from "./relationship-mutants.ts";

const ALL = [...RELATIONSHIP_MUTANTS, ...PLACE_MUTANTS, ...ACCOUNT_MUTANTS];
/** How many of them are one that is tried outside of CI. */
const TURNS = 12;
/** Many more than any of them has needed. */
const MOST = 3000;
/** Some need a hundred sequences, on machines that do much else. */
const PATIENT = 600_000;
const THREAD = new URL("./mutant-thread.ts", import.meta.url);

async function search(mutant: Mutant, seed: number): Promise<SearchResult> {
  const workerData: Search = { mutant, seed, most: MOST };
  const thread = new Worker(THREAD, { workerData });
  try {
    const [result] = await once(thread, "message");
    return result as SearchResult;
  } finally {
    await thread.terminate();
  }
}

describe("without a rule, a sequence shows what is wrong [IAM-6, IAM-7, IAM-8, IAM-10]", () => {
  const seed = Date.now() % 1_000_000_000;

  test.each(columnsOf(ALL, seed, TURNS).map((mutant) => [mutant.rule, mutant] as const))(
    "%s",
    async (_, mutant) => {
      const { found, sequences } = await search(mutant, seed);
      expect(found, `${sequences} sequences from the seed ${seed}`).not.toEqual([]);
    },
    PATIENT,
  );
});

test.each(ELSEWHERE)("%s: that is the matter of another test", (_, file, title) => {
  expect(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")).toContain(title);
});
