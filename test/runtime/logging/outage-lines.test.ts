/** Lines of the log on errors: those that are expected have no stack. */
import { expect, test } from "vitest";
import { AuthzError } from "../../../src/authz/engine/authz-error.ts";
import { DatabaseError } from "../../../src/database/database-error.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { createLogger } from "../../../src/runtime/logging/create-logger.ts";

function errorOf(fields: object): unknown {
  const lines: string[] = [];
  createLogger({ destination: { write: (line) => void lines.push(line) } }).error(fields, "fails");
  return JSON.parse(lines.join("")).error;
}

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
])("%s has one", (_, error) => {
  expect(errorOf({ error })).toHaveProperty("stack");
});

test.each([["a text"], [null], [1], [["UNAVAILABLE"]], [{ code: "UNAVAILABLE" }]])(
  "%j in place of an error stays as it is",
  (error) => {
    expect(errorOf({ error })).toEqual(error);
  },
);
