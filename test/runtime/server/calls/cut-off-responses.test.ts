import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type RawHandler, readRouteDocument } from "../../../../src/runtime/index.ts";
import { until } from "../../../support/until.ts";
import { FIXTURE, startVault } from "../../support/vault-server.ts";

const MIB = 1024 * 1024;
const BODY = "x".repeat(8 * MIB);
/** More than a connection may leave unread. */
const RESPONSES = 9;

test("a response that is cut off for its memory is counted in the metrics [TRANS-4]", async () => {
  const path = { match: "exact", methods: ["GET"], exposure: "PUBLIC" } as const;
  const generated = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));
  let endFirst = (): void => undefined;
  const first = new Promise<void>((resolve) => (endFirst = resolve));
  const rawHandlers: RawHandler[] = [
    { path: "/first", handle: () => first.then(() => ({ status: 200 })) },
    { path: "/large", handle: () => ({ status: 200, body: BODY }) },
  ];
  const routes = {
    ...generated,
    paths: rawHandlers.map((handler) => ({ ...path, path: handler.path })),
  };
  const vault = await startVault({ routes, rawHandlers });
  const cutOff = async (): Promise<string | undefined> => {
    const response = await fetch(`http://127.0.0.1:${vault.metrics}/metrics`);
    return /^svc_access_responses_cut_off_total (\d+)$/m.exec(await response.text())?.[1];
  };
  try {
    expect(await cutOff()).toBe("0");
    const client = connect(vault.http, "127.0.0.1");
    client.on("error", () => undefined);
    const closed = once(client, "close");
    const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;
    // They wait for the first one, which takes its time.
    client.write(get("/first") + get("/large").repeat(RESPONSES));
    await closed;
    await until("a response was cut off", async () => (await cutOff()) === "1");
  } finally {
    endFirst();
    await vault.stop();
  }
});
