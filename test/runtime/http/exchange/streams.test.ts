/** Streams of responses over HTTP. */
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { until, untilStill } from "../../../support/until.ts";
import type { Thing } from "../fixture/thing_pb.ts";
import { get, httpRoute, openChain, start, stopAll, thingMethod } from "../support.ts";

afterEach(stopAll);

const WATCH = [httpRoute("GET /v1/watch/{name}")];

describe("streams", () => {
  it("have a line of JSON for each message", async () => {
    const { origin } = await start({
      methods: [
        thingMethod("watchThings", WATCH, async function* ({ name }: Thing) {
          yield { name };
          yield { name: "b" };
        }),
      ],
    });
    const response = await fetch(`${origin}/v1/watch/a`);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const lines = (await response.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([{ name: "a" }, { name: "b" }]);
  });

  it("that fail before their first message are a normal error", async () => {
    const { origin } = await start({
      methods: [
        thingMethod("watchThings", WATCH, async function* () {
          throw new ServiceError("RESOURCE_NOT_FOUND");
        }),
      ],
    });
    const response = await fetch(`${origin}/v1/watch/a`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "RESOURCE_NOT_FOUND" });
  });

  it("that fail later end with the error", async () => {
    const { origin } = await start({
      methods: [
        thingMethod("watchThings", WATCH, async function* () {
          yield { name: "a" };
          throw new Error("secret");
        }),
      ],
    });
    const lines = (await (await fetch(`${origin}/v1/watch/a`)).text()).trim().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
      error: { status: 500, code: "INTERNAL", message: "internal error" },
    });
  });

  it("with a message that cannot be encoded have failed, also for logs and audit", async () => {
    const ended: unknown[] = [];
    const { origin } = await start({
      chain: openChain({ observers: [{ end: (_call, error) => void ended.push(error) }] }),
      methods: [
        thingMethod("watchThings", WATCH, async function* ({ name }: Thing) {
          if (name === "late") yield { name };
          yield { time: { seconds: 1n << 60n, nanos: 0 } };
        }),
      ],
    });
    expect((await fetch(`${origin}/v1/watch/early`)).status).toBe(500);
    const late = await (await fetch(`${origin}/v1/watch/late`)).text();
    expect(JSON.parse(late.trim().split("\n").at(-1) ?? "")).toMatchObject({
      error: { status: 500, code: "INTERNAL", message: "internal error" },
    });
    expect(ended).toMatchObject([{ code: "INTERNAL" }, { code: "INTERNAL" }]);
  });

  it("wait for a client that reads slowly, and end when it disconnects", async () => {
    let sent = 0;
    let isOver = false;
    const { port } = await start({
      methods: [
        thingMethod("watchThings", WATCH, async function* () {
          try {
            for (;;) {
              yield { name: "x".repeat(100_000) };
              sent++;
            }
          } finally {
            isOver = true;
          }
        }),
      ],
    });
    const socket = connect(port, "127.0.0.1");
    socket.write(get("/v1/watch/a"));
    socket.pause();
    await until("the stream begins", () => sent > 0);
    await untilStill("the number of messages", () => sent);
    expect(sent).toBeLessThan(500);
    socket.destroy();
    await expect.poll(() => isOver, { message: "the stream is over" }).toBe(true);
  });
});
