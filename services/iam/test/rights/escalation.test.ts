import { describe, expect, test } from "vitest";
import { IS_THOROUGH, runs } from "../../../../test/support/effort.ts";
import { runSequence, STEPS } from "./sequences.ts";
import { openWorldDatabase } from "./world-parts.ts";

const SEQUENCES = runs(1000, 25);
/** What is permitted often enough to be a part of them. */
const KINDS = [
  ...["write", "add", "remove", "create", "move", "delete_group"],
  ...["link", "reset", "disable", "enable", "email", "sessions", "factors"],
  ...["key", "delete_key", "audience"],
];

describe("in sequences of permitted steps [IAM-6, IAM-7, IAM-8, IAM-10]", () => {
  const first = Date.now() % 1_000_000_000;

  test("nobody gets what the caller could not have granted, and each zone keeps an owner", async () => {
    await using database = await openWorldDatabase();
    const kinds = new Set<string>();
    let permitted = 0;
    for (let seed = first; seed < first + SEQUENCES; seed++) {
      const { steps, found } = await runSequence(seed, database);
      expect(found, `seed ${seed}: ${JSON.stringify(steps.slice(-3))}`).toEqual([]);
      permitted += steps.length;
      for (const { kind } of steps) kinds.add(kind);
    }
    expect(permitted).toBeGreaterThan(SEQUENCES * (STEPS - 1));
    if (IS_THOROUGH) expect(KINDS.filter((kind) => !kinds.has(kind))).toEqual([]);
  }, 900_000);
});
