/** A start audits the clients that are other ones than at the start before. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openAuditLog } from "svc-access/runtime";
import { expect, test } from "vitest";
import { freePort } from "../../../../test/support/free-port.ts";
import { everythingStored } from "../support/everything-stored.ts";
import { LOGIN_CLIENT, startIam } from "../support/iam-service.ts";

const WEB = {
  id: "0b0c1f0e-5a53-4f6e-9d0e-6f1d5a3b8c11",
  name: "Web",
  flows: ["code"],
  client_secret: "the first secret of the client, in tests",
  redirect_uris: ["https://app.example.com/callback"],
};
const TV = { id: "1b0c1f0e-5a53-4f6e-9d0e-6f1d5a3b8c12", name: "TV", flows: ["device"] };
const OTHER_SECRET = "the second secret of the client, in tests";

test("clients that were added, changed, removed or declared again, and no others [IAM-14]", async () => {
  let folder: string | undefined;
  let seen = 0;
  let stored = "";
  // It is a part of the addresses of the service's own client.
  const port = await freePort();
  /** Starts the service with clients, and returns the new events, in their order. */
  const startWith = async (clients: readonly object[]) => {
    const kept = folder === undefined ? {} : { folder };
    const iam = await startIam({ port, iam: { clients }, ...kept });
    folder = iam.folder;
    await iam.stop();
    rmSync(join(folder, "service.yaml"));
    stored = await everythingStored(iam);
    const log = await openAuditLog(iam.options.configuration);
    const { events } = await log.list({ type: "client.applied" });
    await log.close();
    const added = events.slice(0, events.length - seen).reverse();
    seen = events.length;
    expect(added.every(({ data }) => data.risk_level === "HIGH" && data.rpc === "")).toBe(true);
    return added.map(({ data }) => [data.details?.["client"], data.details?.["change"]]);
  };

  expect(await startWith([WEB])).toEqual([
    [LOGIN_CLIENT, "added"],
    [WEB.id, "added"],
  ]);
  expect(await startWith([WEB])).toEqual([]);
  expect(await startWith([TV, WEB])).toEqual([[TV.id, "added"]]);
  const redirect_uris = ["https://evil.example.com/callback"];
  expect(await startWith([TV, { ...WEB, redirect_uris }])).toEqual([[WEB.id, "changed"]]);
  const rotated = { ...WEB, redirect_uris, client_secret: OTHER_SECRET };
  expect(await startWith([TV, rotated])).toEqual([[WEB.id, "changed"]]);
  expect(await startWith([rotated])).toEqual([[TV.id, "removed"]]);
  expect(await startWith([rotated])).toEqual([]);
  expect(await startWith([TV, rotated])).toEqual([[TV.id, "added"]]);

  expect(stored).toContain("client.applied");
  for (const secret of [WEB.client_secret, OTHER_SECRET]) expect(stored).not.toContain(secret);
});
