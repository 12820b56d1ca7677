/** Bytes that come in pieces. */
import { afterEach, expect, test, vi } from "vitest";
import { EnvelopeParser, envelopeOf, Pieces } from "../../../src/runtime/wire/envelope.ts";

afterEach(() => vi.restoreAllMocks());

/** How many bytes are copied meanwhile to join buffers. */
function copiedBytes(): () => number {
  const concat = vi.spyOn(Buffer, "concat");
  return () => concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
}

test("a message in pieces of one byte is copied twice, regardless of its length", () => {
  const message = Buffer.alloc(100_000, 7);
  const parser = new EnvelopeParser(message.length);
  const copied = copiedBytes();
  for (const byte of envelopeOf(message)) {
    expect(parser.next()).toBeUndefined();
    parser.push(Buffer.of(byte));
  }
  expect(parser.next()?.data).toEqual(new Uint8Array(message));
  expect(parser.size).toBe(0);
  expect(copied()).toBeLessThan(2.1 * message.length);
});

test("messages are found wherever the pieces end", () => {
  const texts = ["", "a", "some more", "b".repeat(3000), ""];
  const bytes = Buffer.concat(texts.map((text) => envelopeOf(Buffer.from(text))));
  for (const size of [1, 2, 3, 5, 7, 1000, bytes.length]) {
    const parser = new EnvelopeParser(10_000);
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      parser.push(bytes.subarray(at, at + size));
      for (let next = parser.next(); next !== undefined; next = parser.next()) {
        found.push(Buffer.from(next.data).toString());
      }
    }
    expect(found).toEqual(texts);
    expect(parser.size).toBe(0);
  }
});

test("no pieces have no bytes, and dropped bytes are released", () => {
  const pieces = new Pieces();
  expect(pieces.whole()).toHaveLength(0);
  for (const text of ["ab", "", "cd"]) pieces.push(Buffer.from(text));
  expect(pieces.size).toBe(4);
  expect(pieces.whole().toString()).toBe("abcd");
  pieces.drop(3);
  pieces.push(Buffer.from("e"));
  expect([pieces.size, pieces.whole().toString()]).toEqual([2, "de"]);
  pieces.clear();
  expect([pieces.size, pieces.whole().length]).toEqual([0, 0]);
});
