/** Errors of the database, as the provider and RPCs answer to them. */
import { DatabaseError } from "svc-access/database";
import { describe, expect, test } from "vitest";
import { asUnavailable, DatabaseUnavailable } from "../../../src/ground/store/provider-database.ts";

describe("an error of the database", () => {
  const error = new DatabaseError("UNAVAILABLE", "the disk is full");

  test("is 503 to the provider, and stays an error of the database to an RPC [IAM-13]", () => {
    const unavailable = asUnavailable(error);
    expect(unavailable).toBeInstanceOf(DatabaseUnavailable);
    expect(unavailable).toBeInstanceOf(DatabaseError);
    expect(unavailable).toMatchObject({
      name: "DatabaseUnavailable",
      code: "UNAVAILABLE",
      status: 503,
      statusCode: 503,
      expose: false,
      message: "the disk is full",
      cause: error,
    });
    expect(asUnavailable(unavailable)).toBe(unavailable);
  });

  test("is left as it is, if it is of the program", () => {
    const other = new TypeError("a mistake");
    expect(asUnavailable(other)).toBe(other);
  });
});
