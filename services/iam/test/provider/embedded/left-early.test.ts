/** Clients that go away before the provider has begun with their request. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, expect, test, vi } from "vitest";
import { CONSOLE, startProvider, stopAll } from "../../support/provider-server.ts";

afterAll(stopAll);

test("a call whose client has left ends", async () => {
  const iam = await startProvider();
  await iam.configure(CONSOLE);
  const { provider } = iam;
  const [handle, current] = [provider.handle.bind(provider), provider.current.bind(provider)];
  const socket = connect(Number(new URL(iam.origin).port), "127.0.0.1");
  const handled = new Promise((resolve) => {
    vi.spyOn(provider, "handle").mockImplementationOnce((request, call) => {
      const left = once(request.response, "close");
      vi.spyOn(provider, "current").mockImplementationOnce(async () => {
        socket.destroy();
        await left;
        return current();
      });
      const result = handle(request, call);
      resolve(result);
      return result;
    });
  });
  const { pathname } = new URL(`${iam.issuer}/jwks`);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  expect(await handled).toBeUndefined();
});
