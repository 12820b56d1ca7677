import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameDecoder } from "../../../src/runtime/grpc/frame-decoder.ts";
import { frame } from "./support/raw-call.ts";

test("messages are the same however the bytes are cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40_000 }), { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 40 }),
      (messages, cuts) => {
        const bytes = Buffer.concat(messages.map((message) => frame(message)));
        const decoder = new FrameDecoder(40_000);
        const found: Buffer[] = [];
        let cut = 0;
        for (let at = 0; at < bytes.length; cut++) {
          const length = cuts[cut % cuts.length] as number;
          decoder.push(bytes.subarray(at, at + length));
          at += length;
          for (let next = decoder.next(); next !== undefined; next = decoder.next()) {
            found.push(Buffer.from(next.data));
          }
        }
        expect(found).toEqual(messages.map((message) => Buffer.from(message)));
        expect(decoder.isAtBoundary).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});

test("a promise of much takes no memory", () => {
  const decoders = Array.from({ length: 2000 }, () => new FrameDecoder(64 * 1024 * 1024));
  const before = process.memoryUsage().arrayBuffers;
  for (const decoder of decoders) {
    decoder.push(frame(new Uint8Array(10), 0, 64 * 1024 * 1024));
    expect(decoder.next()).toBeUndefined();
    expect(decoder.isAtBoundary).toBe(false);
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 * 1024);
});
