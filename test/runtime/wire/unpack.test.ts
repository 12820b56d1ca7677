/** Compressed messages that wait for their turn. */
import { PassThrough } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { unpack } from "../../../src/runtime/wire/compression.ts";
import { envelopeOf, flag } from "../../../src/runtime/wire/envelope.ts";
import { budgetOf, MessageAccount } from "../../../src/runtime/wire/message-budget.ts";
import { BYTES } from "../../../src/runtime/wire/message-decoder.ts";
import { MessageReader } from "../../../src/runtime/wire/message-reader.ts";

const DATA = Uint8Array.of(1);
const LIMIT = 10;

/** What is unpacked waits until the test lets it continue. */
interface Work {
  readonly resolve: (data: Uint8Array) => void;
  readonly reject: (reason: Error) => void;
}
const begun: Work[] = [];
let unpacked = 0;
const encoding = {
  name: "deferred",
  pack: async (data: Uint8Array) => data,
  unpack: () => {
    unpacked++;
    return new Promise<Uint8Array>((resolve, reject) => begun.push({ resolve, reject }));
  },
};
const start = (signal = new AbortController().signal) => unpack(encoding, DATA, LIMIT, signal);
/** Ends the work that began first. */
const finish = (): void => begun.shift()?.resolve(DATA);

afterEach(() => {
  unpacked = 0;
  expect(begun).toHaveLength(0);
});

test("two messages are decompressed at once, the others wait in order", async () => {
  const order: number[] = [];
  const all = [0, 1, 2, 3].map((index) => start().then(() => order.push(index)));
  await expect.poll(() => begun.length, { message: "two messages are being decompressed" }).toBe(2);
  finish();
  await expect.poll(() => unpacked, { message: "three messages are decompressed" }).toBe(3);
  expect(order).toEqual([0]);
  finish();
  finish();
  await expect.poll(() => unpacked, { message: "four messages are decompressed" }).toBe(4);
  finish();
  await Promise.all(all);
  expect(order).toEqual([0, 1, 2, 3]);
});

test("a message that is no longer needed is never decompressed", async () => {
  const busy = [start(), start()];
  const gone = new AbortController();
  const abandoned = [start(gone.signal), start(gone.signal)];
  const last = start();
  gone.abort();
  for (const each of abandoned) await expect(each).rejects.toMatchObject({ code: "CANCELLED" });
  await expect(start(gone.signal)).rejects.toMatchObject({ code: "CANCELLED" });
  finish();
  finish();
  await Promise.all(busy);
  await expect.poll(() => unpacked, { message: "three messages are decompressed" }).toBe(3);
  finish();
  await last;
  expect(unpacked).toBe(3);
});

test("the number of waiting messages is limited, and cancelled ones make room", async () => {
  const gone = new AbortController();
  const busy = [start(), start()];
  const waiting = Array.from({ length: 2048 }, () => start(gone.signal));
  const settled = Promise.allSettled(waiting);
  await expect(start()).rejects.toMatchObject({ status: 429, code: "RESOURCE_EXHAUSTED" });
  gone.abort();
  await settled;
  const next = start();
  finish();
  finish();
  await expect.poll(() => unpacked, { message: "three messages are decompressed" }).toBe(3);
  finish();
  await Promise.all([...busy, next]);
});

test("a failed one gives its place to the next", async () => {
  const all = [start(), start(), start()];
  await expect.poll(() => begun.length, { message: "two messages are being decompressed" }).toBe(2);
  begun.shift()?.reject(new Error("no such data"));
  await expect(all[0]).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  await expect.poll(() => unpacked, { message: "three messages are decompressed" }).toBe(3);
  begun.shift()?.resolve(new Uint8Array(LIMIT + 1));
  await expect(all[1]).rejects.toMatchObject({
    code: "PAYLOAD_TOO_LARGE",
    message: `a message is larger than ${LIMIT} bytes, the limit of request messages`,
  });
  finish();
  await all[2];
});

test("the message of a finished call leaves the queue", async () => {
  const busy = [start(), start()];
  const source = new PassThrough();
  const reader = new MessageReader(source, {
    decoder: BYTES,
    maxBytes: LIMIT,
    encoding,
    account: new MessageAccount(budgetOf(1_000_000).process),
    isBrokenOff: () => false,
    onRefused: () => undefined,
  });
  const message = reader.single();
  source.end(envelopeOf(DATA, flag.COMPRESSED));
  await new Promise((resolve) => source.on("end", () => setImmediate(resolve)));
  reader.cancel(new ServiceError("DEADLINE_EXCEEDED"));
  await expect(message).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  finish();
  finish();
  await Promise.all(busy);
  await new Promise((resolve) => setImmediate(resolve));
  expect(unpacked).toBe(2);
});
