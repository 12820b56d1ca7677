/** The buttons that end sessions say which one, also to who hears the button alone. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser, descriptionOf } from "../support/browser.ts";
import { databaseOf, startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const SAFARI =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
let iam: IamService;
beforeAll(async () => {
  iam = await startSelf();
});
afterAll(() => iam.stop());

const url = () => `${iam.origin}/v1/iam/oidc/account/sessions`;

/** A browser in which alice has logged in, with what it says it is. */
async function logIn(agent: string): Promise<Browser> {
  const { kysely } = databaseOf(iam);
  const known = await kysely.selectFrom("iam_sessions").select("id").execute();
  const browser = new Browser(iam.origin);
  const login = { action: "login", username: "alice", password: PASSWORD };
  await browser.submit(await browser.open(url()), login);
  let fresh = kysely.updateTable("iam_sessions").set({ user_agent: agent });
  for (const { id } of known) fresh = fresh.where("id", "!=", id);
  await fresh.execute();
  return browser;
}

test("the description has the device, the times, and whether it is this one [PAGE-2]", async () => {
  await logIn(SAFARI);
  const browser = await logIn(FIREFOX);
  const { text } = await browser.open(url());
  const found = [...text.matchAll(/<button[^>]* name="session"[^>]* aria-describedby="([^"]*)"/g)];
  const descriptions = found.map(([, ids = ""]) => descriptionOf(text, ids)).sort();
  const use = /Last used .+, from \S+ Since .+/.source;
  expect(descriptions).toEqual([
    expect.stringMatching(`^Browser \\(this one\\) Firefox on Linux ${use}`),
    expect.stringMatching(`^Browser Safari on iPhone ${use}`),
  ]);
});
