import { EventEmitter, once } from "node:events";
import type { Etcd3 } from "etcd3";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  keepLeaseAlive,
  keepSession,
  settledSoon,
} from "../../../src/runtime/registry/etcd-session.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A session whose attempts all fail, and the pauses between them, in milliseconds. */
async function failing(tries: number, establishes: boolean) {
  // The mean of the random pauses.
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const abort = new AbortController();
  const begun: number[] = [];
  const lost: boolean[] = [];
  let opened = 0;
  let closed = 0;
  await keepSession(
    {
      connect: () => {
        opened++;
        return { close: () => void closed++ } as unknown as Etcd3;
      },
      run: async (_client, established) => {
        begun.push(performance.now());
        if (establishes) established();
        if (begun.length === tries) abort.abort();
        throw new Error("etcd has gone");
      },
      lost: (_error, wasEstablished) => void lost.push(wasEstablished),
    },
    abort.signal,
  );
  const pauses = begun.slice(1).map((time, index) => time - (begun[index] as number));
  return { pauses, lost, opened, closed };
}

describe("work on etcd that fails", () => {
  test("is retried after growing pauses, each time with a new client", async () => {
    const { pauses, lost, opened, closed } = await failing(4, false);
    for (const [index, least] of [195, 395, 795].entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual(least);
    }
    // Work that ends on request is not reported as lost.
    expect(lost).toEqual([false, false, false]);
    expect([opened, closed]).toEqual([4, 4]);
  });

  test("is retried soon if etcd had responded", async () => {
    const { pauses, lost } = await failing(6, true);
    for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(195);
    // Doubled each time, they would be more than six seconds in total.
    expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBeLessThan(5000);
    expect(lost).toEqual([true, true, true, true, true]);
  });

  test("is retried if the client cannot be created", async () => {
    const abort = new AbortController();
    const said: string[] = [];
    await keepSession(
      {
        connect: () => {
          throw new Error("no such file");
        },
        run: async () => undefined,
        lost: (error) => {
          said.push((error as Error).message);
          if (said.length === 2) abort.abort();
        },
      },
      abort.signal,
    );
    expect(said).toEqual(["no such file", "no such file"]);
  });

  test("does not start after a request to end", async () => {
    let opened = 0;
    const connect = () => {
      opened++;
      return undefined as never;
    };
    const work = { connect, run: async () => undefined, lost: () => undefined };
    await keepSession(work, AbortSignal.abort());
    expect(opened).toBe(0);
  });
});

test("close waits only briefly for an etcd that does not respond", async () => {
  const started = performance.now();
  await settledSoon(new Promise(() => undefined));
  expect(performance.now() - started).toBeGreaterThanOrEqual(1990);
  let isDone = false;
  await settledSoon(
    new Promise((resolve) => setImmediate(resolve)).then(() => {
      isDone = true;
    }),
  );
  expect(isDone).toBe(true);
});

describe("a lease is renewed", () => {
  /** A stream of renewals, and what was written to it. */
  function etcdOf() {
    const written: unknown[] = [];
    let ended = 0;
    const stream = Object.assign(new EventEmitter(), {
      write: (request: unknown) => {
        written.push(request);
        stream.emit("written");
      },
      end: () => void ended++,
    });
    const client = { leaseClient: { leaseKeepAlive: async () => stream } } as unknown as Etcd3;
    return { stream, client, written, ended: () => ended };
  }

  test.each<[string, unknown[], string | undefined]>([
    ["if etcd returns a duration", ["data", { TTL: "10" }], undefined],
    ["not if it has expired", ["data", { TTL: "0" }], "the lease has expired"],
    ["not if the stream fails", ["error", new Error("gone")], "gone"],
    ["not if the stream ends", ["end"], "etcd has ended the stream"],
  ])("%s", async (_, [name, value], problem) => {
    const { stream, client, written, ended } = etcdOf();
    const asked = once(stream, "written");
    const renewed = keepLeaseAlive(client, "7").then(
      () => undefined,
      (error: Error) => error.message,
    );
    await asked;
    stream.emit(name as string, value);
    expect(await renewed).toBe(problem);
    expect(written).toEqual([{ ID: "7" }]);
    expect(ended()).toBe(1);
  });

  test("not if etcd does not respond in time", async () => {
    vi.useFakeTimers();
    const { client, ended } = etcdOf();
    const renewed = keepLeaseAlive(client, "7").catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(5000);
    expect(await renewed).toBe("etcd does not answer");
    expect(ended()).toBe(1);
  });
});
