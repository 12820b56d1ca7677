import { createHook } from "node:async_hooks";
import { expect, test } from "vitest";
import { createHttpServer } from "../../../../src/runtime/http/server/http-server.ts";
import { openChain } from "../support.ts";

test("a server that never listens has no timers", () => {
  const timers: string[] = [];
  const hook = createHook({
    init(_id, type) {
      if (type === "Timeout") timers.push(type);
    },
  }).enable();
  createHttpServer({
    chain: openChain(),
    methods: [],
    config: {
      address: "127.0.0.1:0",
      max_body_bytes: 1024,
      cors: { allowed_origins: [], max_age_seconds: 3600 },
    },
  });
  hook.disable();
  expect(timers).toEqual([]);
});
