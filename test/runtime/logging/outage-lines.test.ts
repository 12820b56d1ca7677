/** Lines of the log on errors: those that are expected have no stack. */
import { expect, test } from "vitest";
import { AuthzError } from "../../../src/authz/engine/authz-error.ts";
import { DatabaseError } from "../../../src/database/database-error.ts";
import { postgresAddress } from "../../../src/database/postgres/postgres-address.ts";
import { explainPostgres } from "../../../src/database/postgres/postgres-errors.ts";
import { explainSqlite } from "../../../src/database/sqlite/sqlite-errors.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { createLogger } from "../../../src/runtime/logging/create-logger.ts";

function errorOf(fields: object): unknown {
  const lines: string[] = [];
  createLogger({ destination: { write: (line) => void lines.push(line) } }).error(fields, "fails");
  return JSON.parse(lines.join("")).error;
}

const ofPostgres = (error: Error) =>
  explainPostgres(error, "the database", postgresAddress("postgres://iam@127.0.0.1/iam"));
function parseError(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}
const sqlite = (message: string, errcode: number) =>
  Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });

test.each([
  ["a lost connection", ofPostgres(Object.assign(new Error("lost"), { code: "ECONNRESET" }))],
  ["too many connections", ofPostgres(Object.assign(new Error("too many"), { code: "53300" }))],
  ["a server that stops", ofPostgres(Object.assign(new Error("stops"), { code: "57P01" }))],
  ["a full disk", explainSqlite(sqlite("disk is full", 13), "iam.db")],
  [
    "a fetch that failed",
    new ServiceError("UNAVAILABLE", "the provider is down", {
      cause: new TypeError("fetch failed", {
        cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
      }),
    }),
  ],
  [
    "an answer that is not JSON",
    new ServiceError("UNAVAILABLE", "the provider is down", { cause: parseError("<html>") }),
  ],
])("%s has no stack", (_, error) => {
  expect(error).toHaveProperty("code", "UNAVAILABLE");
  expect(JSON.stringify(errorOf({ error }))).not.toContain('"stack"');
});

const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

test.each([
  ["DatabaseError", new DatabaseError("UNAVAILABLE", "it is down: start it", { cause })],
  ["AuthzError", new AuthzError("UNAVAILABLE", "it is down: start it", { cause })],
  ["ServiceError", new ServiceError("UNAVAILABLE", "it is down: start it", { cause })],
])("a %s of what is down has no stack, nor has its cause", (type, error) => {
  const shown = { type, message: "it is down: start it", code: "UNAVAILABLE" };
  expect(errorOf({ error, job: "one" })).toMatchObject({
    ...shown,
    cause: { type: "Error", message: "connect ECONNREFUSED" },
  });
  expect(JSON.stringify(errorOf({ error }))).not.toContain('"stack"');
  expect(JSON.stringify(errorOf(error))).not.toContain('"stack"');
});

test.each([
  ["a defect", new TypeError("x is undefined")],
  ["a defect of a statement", new DatabaseError("INVALID_ARGUMENT", "no such column")],
  ["a failed connection that nobody has explained", cause],
  ["a defect near the driver of PostgreSQL", ofPostgres(new TypeError("x is undefined"))],
  [
    "a wrong statement for PostgreSQL",
    ofPostgres(Object.assign(new Error("no such column"), { code: "42703" })),
  ],
  ["a defect near the driver of SQLite", explainSqlite(new RangeError("too long"), "iam.db")],
  ["a wrong statement for SQLite", explainSqlite(sqlite("no such column", 1), "iam.db")],
])("%s has one", (_, error) => {
  expect(errorOf({ error })).toHaveProperty("stack");
});

test.each([["a text"], [null], [1], [["UNAVAILABLE"]], [{ code: "UNAVAILABLE" }]])(
  "%j in place of an error stays as it is",
  (error) => {
    expect(errorOf({ error })).toEqual(error);
  },
);
