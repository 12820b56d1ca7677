/** Who may hold memory for messages, and who gives way. */
import { describe, expect, test } from "vitest";
import {
  budgetOf,
  MessageAccount,
  memoryOfConnection,
} from "../../../src/runtime/wire/message-budget.ts";
import { UnreadResponses } from "../../../src/runtime/wire/unread-responses.ts";

const KIB = 1024;

/** A process whose messages may take 400 KiB, and those of a connection 200. */
function memory() {
  const process = budgetOf(400 * KIB);
  const ended: string[] = [];
  const connection = () => {
    const { budget } = memoryOfConnection(process);
    return (name: string) => {
      const account = new MessageAccount(budget);
      return {
        account,
        take: (kib: number) => account.take(kib * KIB),
        receive: (kib: number) => account.receive(kib * KIB, () => ended.push(name)),
        lasts: () => account.lasts(() => ended.push(name)),
      };
    };
  };
  return { process: process.process, connection, ended };
}

describe("memory for messages [TRANS-4]", () => {
  test("is refused if all of it is in use, and released when a call is over", () => {
    const { process, connection } = memory();
    const [first, second, third] = [connection()("a"), connection()("b"), connection()("c")];
    first.take(200);
    second.take(200);
    expect(() => third.take(20)).toThrow("use all the memory");
    first.account.close();
    third.take(20);
    second.account.release();
    third.account.close();
    expect(process.taken).toBe(0);
    expect(() => first.take(1)).toThrow("the caller has cancelled");
    expect(() => first.receive(20)).toThrow("the caller has cancelled");
    expect(process.taken).toBe(0);
  });

  test("of one connection is half of the memory of the process", () => {
    const { connection } = memory();
    const call = connection();
    call("a").take(200);
    expect(() => call("b").take(20)).toThrow("use all the memory");
    connection()("c").take(200);
  });

  test("that no message may use is refused permanently, without effect on other calls", () => {
    const { process, connection, ended } = memory();
    const call = connection();
    const [before, heavy] = [call("before"), call("heavy")];
    before.receive(100);
    const tooHeavy = expect.objectContaining({
      code: "PAYLOAD_TOO_LARGE",
      retryAfterSeconds: undefined,
    });
    expect(() => heavy.take(201)).toThrow(tooHeavy);
    expect(() => heavy.receive(201)).toThrow(tooHeavy);
    // Packed, and then unpacked.
    heavy.take(50);
    expect(() => heavy.take(151)).toThrow(tooHeavy);
    expect(ended).toEqual([]);
    expect(process.taken).toBe(150 * KIB);
    heavy.take(150);
    expect(ended).toEqual(["before"]);
  });

  test("of a small piece is counted with the pieces before it", () => {
    const { connection } = memory();
    const call = connection()("a");
    call.receive(199);
    call.receive(200);
    expect(() => call.receive(201)).not.toThrow();
    expect(() => call.receive(251)).toThrow(expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }));
  });

  test("has a part that only small messages get", () => {
    const { process, connection } = memory();
    for (let index = 0; index < 2; index++) connection()("large").take(200);
    const small = connection()("small");
    for (let index = 0; index < 50; index++) small.take(1);
    expect(() => small.take(15.99)).not.toThrow();
    expect(() => connection()("large").take(16)).toThrow("use all the memory");
    expect(process.taken).toBeGreaterThan(400 * KIB);
  });

  test("is revoked from the messages that have been arriving for longest", () => {
    const { process, connection, ended } = memory();
    const calls = ["a", "b", "c", "d"].map((name) => connection()(name));
    for (const call of calls) call.receive(100);
    const honest = connection()("e");
    honest.receive(50);
    expect(ended).toEqual(["a"]);
    honest.receive(150);
    expect(ended).toEqual(["a", "b"]);
    // It has come as a whole, and is decoded.
    honest.receive(0);
    honest.take(200);
    expect(ended).toEqual(["a", "b"]);
    connection()("f").take(100);
    expect(ended).toEqual(["a", "b", "c"]);
    expect(process.taken).toBe(400 * KIB);
  });

  test("is not revoked for the message that has itself been arriving for longest", () => {
    const { connection, ended } = memory();
    const call = connection();
    const [first, second] = [call("a"), call("b")];
    first.receive(100);
    second.receive(100);
    expect(() => first.receive(120)).toThrow("use all the memory");
    expect(ended).toEqual([]);
  });

  test("is revoked from streams, but not from unary calls with a complete message", () => {
    const { connection, ended } = memory();
    const [unary, stream] = [connection()("unary"), connection()("stream")];
    unary.take(200);
    stream.take(200);
    stream.lasts();
    connection()("other").take(100);
    expect(ended).toEqual(["stream"]);
    expect(() => connection()("third").take(200)).toThrow("use all the memory");
    expect(ended).toEqual(["stream"]);
  });

  test("is not revoked from streams that hold little", () => {
    const { connection, ended } = memory();
    const stream = connection()("stream");
    stream.lasts();
    stream.take(15);
    for (let index = 0; index < 2; index++) connection()("large").take(190);
    expect(() => connection()("large").take(50)).toThrow("use all the memory");
    expect(ended).toEqual([]);
  });

  test("is not counted for a small message while it arrives", () => {
    const { process, connection } = memory();
    const call = connection()("a");
    call.receive(15);
    expect(process.taken).toBe(0);
    call.receive(16);
    expect(process.taken).toBe(16 * KIB);
    call.receive(3);
    expect(process.taken).toBe(0);
  });
});

describe("responses that are not read", () => {
  test("are cut off, the oldest first", () => {
    let counted = 0;
    const all = new UnreadResponses(400 * KIB, () => void counted++);
    const cut: string[] = [];
    const waits = (of: UnreadResponses, name: string, kib: number) => {
      const done: () => void = of.add(kib * KIB, () => {
        cut.push(name);
        done();
      });
      return done;
    };
    const [left, right] = [all.within(200 * KIB), all.within(200 * KIB)];
    waits(left, "a", 100);
    const read = waits(left, "b", 100);
    waits(left, "c", 50);
    expect(cut).toEqual(["a"]);
    expect(all.bytes).toBe(150 * KIB);
    read();
    read();
    expect(all.bytes).toBe(50 * KIB);
    waits(right, "d", 200);
    waits(left, "e", 150);
    expect(cut).toEqual(["a"]);
    waits(all.within(200 * KIB), "f", 100);
    expect(cut).toEqual(["a", "c", "d"]);
    expect(left.bytes).toBe(150 * KIB);
    expect(right.bytes).toBe(0);
    expect(counted).toBe(3);
  });

  test("one that exceeds the limit alone is still sent; small ones are not counted", () => {
    const all = new UnreadResponses(100 * KIB);
    const done = all.add(500 * KIB, () => undefined);
    expect(all.bytes).toBe(500 * KIB);
    done();
    all.add(15 * KIB, () => undefined)();
    expect(all.bytes).toBe(0);
  });
});
