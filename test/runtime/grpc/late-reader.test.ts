/** A handler that reads late reads all of a request, which may have ended long before. */
import { expect, test } from "vitest";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { startEchoServer } from "./support/echo-server.ts";
import { frame, rawCall, rawSession } from "./support/raw-call.ts";

const COLLECT = "/fixture.v1.EchoService/Collect";

test.each([
  { name: "no messages", body: new Uint8Array() },
  { name: "three messages", body: Buffer.concat([0, 1, 2].map(() => frame(new Uint8Array()))) },
])("a request of $name that has ended", async ({ body }) => {
  let count = 0;
  const echo = await startEchoServer({
    handlers: {
      collect: async (requests) => {
        // The end of the stream has come by then.
        for (let turn = 0; turn < 50; turn++)
          await new Promise((resolve) => setTimeout(resolve, 1));
        for await (const _ of requests) count++;
        throw new ServiceError("FAILED_PRECONDITION", "that was all");
      },
    },
  });
  const session = rawSession(echo.port);
  const answer = await rawCall(session, COLLECT, {}, body);
  expect(answer).toMatchObject({ reason: "FAILED_PRECONDITION" });
  expect(count).toBe(body.length / 5);
  session.destroy();
  await echo.close();
});
