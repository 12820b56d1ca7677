import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { spicedbIsAbsent, startSpicedb } from "../../../support/spicedb.ts";
import { until } from "../../../support/until.ts";
import { engineOf, request, SCHEMA, updates } from "../fixture.ts";

const asked = request("document:d#view@user:alice");

/** Forwards connections until it vanishes; existing ones then stay silent. */
async function startProxy(to: string) {
  const [host = "", port] = to.split(":");
  const sockets = new Set<Socket>();
  let forwards = true;
  const waiting: Socket[] = [];
  const forward = (near: Socket) => {
    const far = connect(Number(port), host).on("error", () => undefined);
    sockets.add(far);
    near.pipe(far).pipe(near);
  };
  const server = createServer((near) => {
    sockets.add(near.on("error", () => undefined));
    if (forwards) forward(near);
    else waiting.push(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const own = typeof address === "object" && address !== null ? address.port : 0;
  return {
    endpoint: `127.0.0.1:${own}`,
    vanish: () => {
      forwards = false;
      for (const socket of sockets) socket.unpipe().resume();
    },
    /** Forwards connections made in the meantime; the old ones stay open and silent. */
    comeBack: () => {
      forwards = true;
      waiting.forEach(forward);
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe.skipIf(spicedbIsAbsent())("a peer that vanishes silently", () => {
  // In the second case, the ping is sent in the middle of the only running call.
  test.each([1000, 3000])(
    "is detected by calls of %d ms: they end in time, watches end, and both work once it is back",
    {
      timeout: 120_000,
    },
    async (deadlineMs) => {
      const server = await startSpicedb();
      const proxy = await startProxy(server.endpoint);
      const direct = await engineOf(server, SCHEMA, 30_000);
      const engine = await engineOf({ ...server, endpoint: proxy.endpoint }, SCHEMA, deadlineMs);
      const isReady = async () => (await engine.ready()).ready;
      try {
        await direct.writeSchema(SCHEMA);
        const text = "document:d#viewer@user:alice";
        const { revision } = await direct.writeRelationships({ updates: updates("TOUCH", text) });
        const changes = engine.watch(revision)[Symbol.asyncIterator]();
        const first = changes.next();
        await direct.writeRelationships({ updates: updates("DELETE", text) });
        expect((await first).value.updates).toEqual(updates("DELETE", text));
        await until("the engine is ready", isReady);
        const watching = changes.next().catch((error: unknown) => error);

        proxy.vanish();
        const lost = { name: "AuthzError", code: expect.stringMatching(/DEADLINE|UNAVAILABLE/) };
        await expect(engine.check(asked)).rejects.toMatchObject(lost);
        await expect(
          engine.writeRelationships({ updates: updates("TOUCH", text) }),
        ).rejects.toMatchObject(lost);
        expect(await engine.ready()).toMatchObject({ ready: false });
        expect(await watching).toMatchObject({ name: "AuthzError", code: "UNAVAILABLE" });

        proxy.comeBack();
        await until("the engine is ready again", isReady);
        await engine.writeRelationships({ updates: updates("TOUCH", text) });
        expect((await engine.check(asked)).allowed).toBe(true);
      } finally {
        await engine.close();
        await direct.close();
        proxy.close();
        await server.stop();
      }
    },
  );
});
