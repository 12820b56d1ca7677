import { describe, expect, test } from "vitest";
import { isFailure, type StatementFailure } from "../../src/database/statement-failure.ts";

const SQLITE = "ERR_SQLITE_ERROR";

const ERRORS: Readonly<Record<string, readonly [error: unknown, is: StatementFailure | "none"]>> = {
  "a unique index of SQLite": [{ code: SQLITE, errcode: 2067, message: "" }, "uniqueViolation"],
  "a unique index of PostgreSQL": [{ code: "23505" }, "uniqueViolation"],
  "no table in SQLite": [{ code: SQLITE, message: "no such table: t" }, "tableMissing"],
  "no table in PostgreSQL": [{ code: "42P01" }, "tableMissing"],
  "no column in SQLite": [{ code: SQLITE, message: "no such column: c" }, "columnMissing"],
  "no column in PostgreSQL": [{ code: "42703" }, "columnMissing"],
  "no right in PostgreSQL": [{ code: "42501" }, "rightMissing"],
  "a serialization failure of PostgreSQL": [{ code: "40001" }, "conflict"],
  "a deadlock of PostgreSQL": [{ code: "40P01" }, "conflict"],
  "another constraint of PostgreSQL": [{ code: "23503" }, "none"],
  "a busy file of SQLite": [{ code: SQLITE, errcode: 5, message: "database is locked" }, "none"],
  "the text of SQLite without its code": [new Error("no such table: t"), "none"],
  "nothing thrown": [undefined, "none"],
};

const FAILURES: readonly StatementFailure[] = [
  "uniqueViolation",
  "tableMissing",
  "columnMissing",
  "rightMissing",
  "conflict",
];

describe.each(Object.entries(ERRORS))("%s", (_, [error, is]) => {
  test(`is: ${is}`, () => {
    expect(FAILURES.filter((failure) => isFailure(failure, error))).toEqual(
      is === "none" ? [] : [is],
    );
  });
});
