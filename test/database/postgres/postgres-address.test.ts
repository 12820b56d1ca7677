import { describe, expect, test } from "vitest";
import { postgresAddress } from "../../../src/database/postgres/postgres-address.ts";

describe("a URL with an unescaped character in its password is refused, and not quoted", () => {
  test.each([
    "postgres://u:/s3cret@h/db",
    "postgres://u:/s3cret==@h/db",
    "postgres://u:12/s3cret=x@h/db",
    "postgres://u:?s3cret@h/db",
    "postgres://u:#s3cret=@h/db",
    "postgres://u:12?x=1#s3cret@h/db",
  ])("%s", (url) => {
    let message = "";
    try {
      postgresAddress(url);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toContain("with special characters percent-encoded");
    expect(message).not.toContain("s3cret");
  });
});

test.each([
  ["postgres://u:p%40%2F@h:1/db", "db at h:1"],
  ["postgres://u@h:1/a%40b", "a%40b at h:1"],
  ["postgres://h:1/db?user=a@b", "db at h:1"],
])("%s is read", (url, place) => {
  expect(postgresAddress(url)).toMatchObject({ place });
});
