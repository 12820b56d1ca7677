/** What somebody sees whose codes were guessed for too long. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { recoveryCodeHash, totpCode } from "../../../src/people/factors/one-time-codes.ts";
import { Browser } from "../../support/browser.ts";
import { databaseOf, startSelf, userId } from "../../support/browser-login.ts";
import { addFactor, wrongCode } from "../../support/factors.ts";
import type { IamService } from "../../support/iam-service.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";

const RECOVERY_CODE = "ABCD-EFGH-IJKL-MNOP";
let iam: IamService;
beforeAll(async () => {
  iam = await startSelf();
});
afterAll(() => iam.stop());

test("the page says the way out, and a recovery code is one [FACTOR-5]", async () => {
  const { kysely } = databaseOf(iam);
  const id = await userId(iam, "alice");
  const secret = await addFactor(iam, id);
  const code_hash = recoveryCodeHash(id, RECOVERY_CODE) ?? "";
  await kysely.insertInto("iam_recovery_codes").values({ account_id: id, code_hash }).execute();
  await kysely.updateTable("iam_users").set({ factor_failures: 99 }).execute();

  const account = `${iam.origin}/v1/iam/oidc/account`;
  const browser = new Browser(iam.origin);
  const login = { action: "login", username: "alice", password: PASSWORD };
  const asked = await browser.submit(await browser.open(account), login);
  const wrong = await browser.submit(asked, { action: "code", code: wrongCode(secret) });
  expect(wrong.status).toBe(401);
  const right = totpCode(secret, Math.floor(Date.now() / 30_000));
  const refused = await browser.submit(wrong, { action: "code", code: right });
  expect(refused.status).toBe(403);
  expect(refused.text).toContain("Use a recovery code or a passkey.");
  const events = await kysely
    .selectFrom("audit_events" as never)
    .selectAll()
    .execute();
  expect(JSON.stringify(events)).toMatch(/second_factor\.failed.*refused/);

  const done = await browser.submit(refused, { action: "code", code: RECOVERY_CODE });
  expect(done.url).toBe(account);
});
