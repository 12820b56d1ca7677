import { describe, expect, test } from "vitest";
import {
  formatCursor,
  parseCursor,
  revisionOf,
  zedTokenOf,
} from "../../../../src/authz/spicedb/client/tokens.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64url");
const INVALID = expect.objectContaining({ code: "INVALID_ARGUMENT" });

describe("a revision token", () => {
  test("contains the ZedToken", () => {
    expect(zedTokenOf(revisionOf("GgYKBENQUT0="))).toBe("GgYKBENQUT0=");
  });

  test.each([
    "",
    "x",
    "%%%",
    base64("1:spicedb:"),
    base64("2:spicedb:x"),
    base64("1:spicedb:GgYKBENQUT0"),
    base64("1:spicedb:GgcKBENQUT0="),
    base64("1:spicedb:AAYKBENQUT0="),
    base64("1:embedded:x"),
  ])("%j is none", (token) => {
    expect(() => zedTokenOf(token)).toThrow(INVALID);
  });

  test("with additional characters is invalid", () => {
    expect(() => zedTokenOf(`${revisionOf("token")} `)).toThrow(INVALID);
  });
});

describe("a cursor", () => {
  const cursor = { zedToken: "GgYKBENQUT0=", after: "doc" };

  test("is valid only for its listing", () => {
    const text = formatCursor(["resources", "doc"], cursor);
    expect(parseCursor(["resources", "doc"], text)).toEqual(cursor);
    expect(() => parseCursor(["resources", "folder"], text)).toThrow(INVALID);
  });

  test.each([
    "",
    "x",
    base64("[]"),
    base64('["1:spicedb-cursor","a","",""]'),
    base64('["1:spicedb-cursor","a","x",""]'),
    base64("null"),
  ])("%j is none", (text) => {
    expect(() => parseCursor([], text)).toThrow(INVALID);
  });
});
