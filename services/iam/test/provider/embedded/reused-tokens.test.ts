/** Somebody who is logged in, and uses code after code a second time, until services could hold no more revocations. */

import * as client from "openid-client";
import { sql } from "svc-access/database";
import { afterAll, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";
import { ALICE } from "../../support/memory-accounts.ts";
import {
  begin,
  CONSOLE,
  logIn,
  redeem,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

afterAll(stopAll);

const LIMIT = 20;
const MORE = 5;
const newPostgres = await postgres();
const databases: [string, () => Promise<TestDatabase>][] = [["SQLite", sqlite]];
if (newPostgres !== undefined) databases.push(["PostgreSQL", newPostgres]);

test.each(databases)(
  "codes used again end their tokens, and take few places among the revocations, on %s [IDP-10]",
  async (_, newDatabase) => {
    const iam = await startProvider({ at: await newDatabase() });
    const web = await iam.configure(CONSOLE);
    const browser = new Browser(iam.origin);
    await logIn(web, browser);
    for (let count = 0; count < LIMIT + MORE; count++) {
      const begun = await begin(web);
      const back = await browser.open(begun.url.href);
      const tokens = await redeem(web, back.url, begun);
      await expect(redeem(web, back.url, begun)).rejects.toMatchObject({ error: "invalid_grant" });
      expect(await client.tokenIntrospection(web, tokens.access_token)).toEqual({ active: false });
      await expect(client.refreshTokenGrant(web, tokens.refresh_token ?? "")).rejects.toMatchObject(
        { error: "invalid_grant" },
      );
    }
    const { rows } = await sql<{ kind: string; value: string }>`
      select kind, value from iam_revocations`.execute(iam.database.open().kysely);
    expect(rows.filter(({ kind }) => kind === "sid")).toHaveLength(LIMIT);
    expect(rows.filter(({ kind }) => kind !== "sid")).toEqual([
      { kind: "subject", value: ALICE.id },
    ]);
    const events = await iam.events("authorization_code.reused");
    expect(events).toHaveLength(10);
    expect(events[9]?.data).toMatchObject({
      risk_level: "HIGH",
      resource: `user:${ALICE.id}`,
      details: { client: CONSOLE.id },
    });
  },
);
