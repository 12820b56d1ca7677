import { afterEach, expect, test, vi } from "vitest";
import { printPieces } from "../../src/common/note.ts";

afterEach(() => vi.restoreAllMocks());

/** What a slow reader gets: it reads each part only once the next event of the process comes. */
async function printed(pieces: readonly string[]): Promise<string> {
  const parts: Buffer[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((data, done) => {
    setImmediate(() => {
      parts.push(Buffer.from(data));
      (done as unknown as () => void)();
    });
    return false;
  });
  await printPieces(pieces);
  return Buffer.concat(parts).toString("utf8");
}

test.each([
  ["no piece", []],
  ["an empty piece", [""]],
  ["a few pieces", ["a", "…", "\u{1f600}"]],
  ["many pieces", Array.from({ length: 5_000 }, (_, index) => `${index}: ü…\u{1f600}\n`)],
  [
    "pieces that are longer than what is written at once",
    ["ü".repeat(100_000), "b", "…".repeat(30_000)],
  ],
])("%s are printed whole and in order to a slow reader", async (_, pieces) => {
  expect(await printed(pieces)).toBe(pieces.join(""));
});
