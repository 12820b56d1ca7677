import { afterEach, expect, test } from "vitest";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { start, stopAll } from "../support.ts";

afterEach(stopAll);

test.each([
  ["INTERNAL", "internal error\n"],
  ["INVALID_ARGUMENT", "of the program\n"],
] as const)("of %s a caller gets %j", async (code, reported) => {
  const { origin } = await start({
    protocols: {
      serve() {
        throw new ServiceError(code, "of the program");
      },
      isSpokenIn: () => false,
      methods: () => ["POST"],
    },
  });
  const response = await fetch(`${origin}/a.v1.A/B`, { method: "POST" });
  expect(response.headers.get("content-type")).toContain("text/plain");
  expect(await response.text()).toBe(reported);
});
