/** A client that revokes tokens without end, until services could hold no more revocations. */
import { randomBytes, randomUUID } from "node:crypto";
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TokenRevocations } from "../../../src/provider/embedded/adapter/token-revocations.ts";
import { Browser } from "../../support/browser.ts";
import { ALICE } from "../../support/memory-accounts.ts";
import {
  CONSOLE,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

/** Another client, with the same users. */
const PORTAL = { ...CONSOLE, id: randomUUID(), secret: randomBytes(32).toString("base64url") };

let iam: RunningProvider;
let web: client.Configuration;
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE, PORTAL] });
  web = await iam.configure(CONSOLE);
});
afterAll(stopAll);

function revoke(token: string, { id, secret } = CONSOLE) {
  const basic = Buffer.from(`${id}:${secret}`).toString("base64");
  return fetch(`${iam.issuer}/token/revocation`, {
    method: "POST",
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ token }),
  });
}

test("is refused for a while, and the tokens still count", async () => {
  const first = await logIn(web, new Browser(iam.origin));
  expect((await revoke(first.access_token)).status).toBe(200);
  const counted = new TokenRevocations(iam.database.open());
  // The others of a thousand in ten minutes.
  for (let count = 1; count < 1000; count++) {
    expect(await counted.begin(ALICE.id, CONSOLE.id)).toBeUndefined();
  }
  const tokens = await logIn(web, new Browser(iam.origin));
  for (const token of [tokens.access_token, tokens.refresh_token ?? ""]) {
    const refused = await revoke(token);
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { error: "temporarily_unavailable" },
    ]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await client.tokenIntrospection(web, token)).toMatchObject({ active: true });
  }
  // What is not a token costs nothing, and others are not concerned.
  expect((await revoke("x")).status).toBe(200);
  expect(await counted.begin("somebody else", CONSOLE.id)).toBeUndefined();
  // Another client of the same person is not.
  const portal = await iam.configure(PORTAL);
  const others = await logIn(portal, new Browser(iam.origin));
  for (const token of [others.access_token, others.refresh_token ?? ""]) {
    expect((await revoke(token, PORTAL)).status).toBe(200);
    expect(await client.tokenIntrospection(portal, token)).toEqual({ active: false });
  }
  // The end of sessions is not limited.
  expect(await iam.provider.endSessions(ALICE.id)).toBeGreaterThan(0);
  expect(await client.tokenIntrospection(web, tokens.access_token)).toEqual({ active: false });
});
