import { expect, test } from "vitest";
import { postgresAddress } from "../../../src/database/postgres/postgres-address.ts";
import {
  breaksConnection,
  explainPostgres,
} from "../../../src/database/postgres/postgres-errors.ts";

test.each([
  ["a socket that was closed, whose code has five letters too", { code: "EPIPE" }],
  ["a socket that was reset", { code: "ECONNRESET" }],
  ["a server that ends", { code: "57P01", severity: "FATAL" }],
  ["a server that ends, by its code alone", { code: "57P01" }],
  ["a connection that fails", { code: "08006" }],
  ["an end without a code", {}],
  ["a statement's code that is fatal", { code: "53300", severity: "FATAL" }],
])("%s breaks its connection", (_, error) => {
  expect(breaksConnection(error)).toBe(true);
});

test.each(["23505", "40001", "25006", "53100"])("%s of a statement does not", (code) => {
  expect(breaksConnection({ code, severity: "ERROR" })).toBe(false);
});

test("a statement that takes too long is not taken for a server that cannot be reached", () => {
  const address = postgresAddress("postgres://notes@db.example.com/notes");
  const { code, message } = explainPostgres(
    new Error("Query read timeout"),
    "the database notes",
    address,
  );
  expect({ code, message }).toEqual({
    code: "UNAVAILABLE",
    message: expect.stringMatching(/^the database notes did not answer a statement in time: /),
  });
});
