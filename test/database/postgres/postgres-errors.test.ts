import { expect, test } from "vitest";
import { NoAnswerError } from "../../../src/database/database-error.ts";
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

test("a slow statement is not reported as an unreachable server", () => {
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

test.each([
  [
    "an attempt that was given up",
    new NoAnswerError(2000),
    "the database notes gave no answer in 2000 ms: check that it runs, and what its statements wait for, such as a lock",
  ],
  [
    "a statement that the server ended",
    { code: "57014", message: "canceling statement due to statement timeout" },
    "the database notes ended a statement that took too long (canceling statement due to statement timeout): check what it waits for, such as a lock",
  ],
  [
    "a lock that the server did not wait for",
    { code: "55P03", message: "canceling statement due to lock timeout" },
    "the database notes ended a statement that took too long (canceling statement due to lock timeout): check what it waits for, such as a lock",
  ],
  [
    "a role that has as many connections as it may",
    { code: "53300", message: 'too many connections for role "notes"' },
    'the database notes has no connection left (too many connections for role "notes"): raise max_connections, or the connection limit of the role or database',
  ],
])("the reason for %s is said once, with its fix", (_, error, expected) => {
  const address = postgresAddress("postgres://notes@db.example.com/notes");
  const { code, message, cause } = explainPostgres(error, "the database notes", address);
  expect({ code, message }).toEqual({ code: "UNAVAILABLE", message: expected });
  if (error instanceof NoAnswerError) expect(cause).toBeUndefined();
});

test.each([
  [
    "a server that requires TLS",
    {
      code: "28000",
      message:
        'no pg_hba.conf entry for host "10.0.0.1", user "notes", database "notes", no encryption',
    },
    'the database notes refuses user notes without TLS (no pg_hba.conf entry for host "10.0.0.1", user "notes", database "notes", no encryption): write sslmode=verify-full in the URL, or allow it in pg_hba.conf',
  ],
  [
    "a server that requires a client certificate",
    { code: "28000", message: "connection requires a valid client certificate" },
    "the database notes requires a client certificate: name its files by sslcert and sslkey in the URL",
  ],
  [
    "an unknown role",
    { code: "28000", message: 'role "notes" does not exist' },
    "the database notes rejects the login of user notes: correct the credentials",
  ],
])("%s is refused with the fix", (_, error, expected) => {
  const address = postgresAddress("postgres://notes@db.example.com/notes");
  const { code, message } = explainPostgres(error, "the database notes", address);
  expect({ code, message }).toEqual({ code: "FAILED_PRECONDITION", message: expected });
});
