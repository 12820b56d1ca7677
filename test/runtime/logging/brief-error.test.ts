import { expect, test } from "vitest";
import { briefError } from "../../../src/runtime/logging/redaction/brief-error.ts";

test("says each sentence once, without stacks and secrets", () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED 10.0.0.1"), { code: "ECONNREFUSED" });
  const error = new TypeError("the database fails: connect ECONNREFUSED 10.0.0.1", { cause });
  expect(briefError(error)).toEqual({
    type: "TypeError",
    message: "the database fails: connect ECONNREFUSED 10.0.0.1",
  });
  expect(briefError(new Error("it fails", { cause: new Error("password=SECRET") }))).toEqual({
    type: "Error",
    message: "it fails",
    cause: { type: "Error", message: "password=***" },
  });
});

test.each([["a text"], [undefined], [null], [{ message: "a", cause: "b" }]])(
  "%j stays as it is",
  (value) => {
    expect(briefError(value)).toEqual(value);
  },
);
