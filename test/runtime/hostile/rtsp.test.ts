import { afterAll, beforeAll, expect, test } from "vitest";
import { headerOf, sendText } from "./support/raw-http.ts";
import { expectErrorBody, startWorld, type World } from "./support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted" });
});
afterAll(() => world.stop());
test.each(["DESCRIBE", "SETUP", "PLAY", "GET_PARAMETER"])(
  "40 %s of RTSP gets an error response, and is logged",
  async (method) => {
    const lines = world.vault.lines.length;
    const [r] = await sendText(
      world.port("http", "trusted"),
      `${method} /v1/profile RTSP/1.0\r\nHost: v\r\n\r\n`,
      400,
    );
    expect(r?.status).toBe(405);
    expectErrorBody(r?.body ?? "", 405, headerOf(r as never, "x-request-id"));
    await expect
      .poll(() => world.vault.lines.length, { message: "the log has a line of the request" })
      .toBe(lines + 1);
  },
);
