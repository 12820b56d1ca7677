import { expect, test } from "vitest";
import { takeLock } from "../../../src/authz/store/postgres/postgres-store-database.ts";
import type { PostgresWriter } from "../../../src/authz/store/postgres/postgres-writer.ts";

const PREVIOUS = { pid: 7, start: "2026-01-01 00:00:00+00" };

/** Returns in turn whether the lock was acquired, and how many connections were ended. */
function writerOf(answers: readonly (boolean | number)[]) {
  const left = [...answers];
  const query = async () => {
    const answer = left.shift();
    if (typeof answer === "boolean") return [{ taken: answer }];
    return new Array(answer).fill({});
  };
  return { writer: { query } as unknown as PostgresWriter, left };
}

// A real server cannot be made to end a connection exactly between two statements of another one.
test.each<[string, (boolean | number)[], boolean]>([
  ["is free", [true], true],
  ["belongs to another process", [false, 0, false], false],
  ["still belongs to our last connection, which is ended", [false, 1, true], true],
  ["belonged to our last connection, which ended by itself", [false, 0, true], true],
  ["is released just before the search for our last connection", [false, 1, false, 0, true], true],
  ["is taken by another process in the meantime", [false, 1, false, 0, false], false],
])("a lock that %s", async (_, answers, taken) => {
  const { writer, left } = writerOf(answers);
  expect(await takeLock(writer, "schema", PREVIOUS)).toBe(taken);
  expect(left).toEqual([]);
});
