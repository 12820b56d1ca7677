import { expect, test } from "vitest";
import { breaksConnection } from "../../../src/authz/store/postgres/postgres-errors.ts";

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
