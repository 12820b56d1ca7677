/** The account asks before it removes a second factor, and tells factors of one kind apart. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { totpCode } from "../../src/people/factors/one-time-codes.ts";
import { Browser, descriptionOf, type Visit } from "../support/browser.ts";
import { databaseOf, startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";

const LAST = "It is your last factor.";
const OTHERS = "Your other factors and your recovery codes remain.";
let iam: IamService;
let alice: Browser;
let ids: Readonly<Record<string, string>>;
beforeAll(async () => {
  iam = await startSelf();
  const users = await databaseOf(iam).kysely.selectFrom("iam_users").selectAll().execute();
  ids = Object.fromEntries(users.map(({ username, id }) => [username, id]));
  alice = new Browser(iam.origin);
  const login = { action: "login", username: "alice", password: PASSWORD };
  const list = await alice.submit(await alice.open(url()), login);
  // The session must have used a factor: later ones are only in the database.
  const page = await alice.submit(list, { action: "new_app" });
  const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(page.text)?.[1] ?? "").replaceAll(" ", "");
  const code = totpCode(secret, Math.floor(Date.now() / 30_000));
  expect((await alice.submit(page, { action: "app", code })).text).toContain("Your recovery codes");
});
afterAll(() => iam.stop());
beforeEach(() => databaseOf(iam).kysely.deleteFrom("iam_second_factors").execute());

const url = () => `${iam.origin}/v1/iam/oidc/account/factors`;
const stored = async () =>
  (await databaseOf(iam).kysely.selectFrom("iam_second_factors").selectAll().execute())
    .map(({ id }) => id)
    .sort();

async function addPasskey(id: string, createTime: number, useTime: number | null = null) {
  const owner = id.startsWith("bob") ? "bob" : "alice";
  await databaseOf(iam)
    .kysely.insertInto("iam_second_factors")
    .values({
      ...{ id, account_id: ids[owner] ?? "", kind: "passkey", secret: null, counter: 0 },
      ...{ credential_id: id, public_key: "x", create_time: createTime, use_time: useTime },
    })
    .execute();
}

async function ask(factor: string, headers = {}): Promise<Visit> {
  return alice.submit(await alice.open(url()), { action: "ask_removal", factor }, { headers });
}

test.each<[string, readonly string[], string, string]>([
  ["one of two", ["one", "two"], OTHERS, LAST],
  ["the last one", ["one"], LAST, OTHERS],
])(
  "it asks before %s is removed, and says what follows [PAGE-9]",
  async (_, given, said, other) => {
    for (const [index, id] of given.entries()) await addPasskey(id, Date.UTC(2026, 0, 1 + index));
    const asked = await ask("one");
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining(said)]);
    expect(asked.text).toContain("<title>Remove this factor? –");
    expect(asked.text).toContain("<h1>Remove this factor?</h1>");
    expect(asked.text).toMatch(/<strong>Passkey<\/strong>[^]*Since Jan 1, 2026/);
    expect(asked.text).not.toContain(other);
    expect(await stored()).toEqual(given);
    for (let count = 0; count < 2; count++) {
      const removed = await alice.submit(asked, { action: "remove" });
      expect(removed.text).toContain("The factor was removed.");
      expect(await stored()).toEqual(given.filter((id) => id !== "one"));
    }
  },
);

test("the description of each button has what tells its factor apart [PAGE-2]", async () => {
  await addPasskey("one", Date.UTC(2026, 0, 1));
  await addPasskey("two", Date.UTC(2026, 1, 2), Date.UTC(2026, 2, 3));
  const { text } = await alice.open(url());
  const found = [...text.matchAll(/<button[^>]* value="ask_removal" aria-describedby="([^"]*)"/g)];
  expect(found.map(([, id = ""]) => descriptionOf(text, id))).toEqual([
    "Passkey Since Jan 1, 2026, 12:00 AM",
    "Passkey Since Feb 2, 2026, 12:00 AM Last used Mar 3, 2026, 12:00 AM",
  ]);
});

test("it asks in German, too [PAGE-3]", async () => {
  await addPasskey("one", 1);
  const { text } = await ask("one", { "accept-language": "de" });
  for (const part of ["<h1>Diesen Faktor entfernen?</h1>", "letzter Faktor", "Behalten"]) {
    expect(text).toContain(part);
  }
});

test.each(["", "x", "__proto__", "bob's"])(
  "it asks nothing about %j, which is none of the own factors, and removes nothing [PAGE-9]",
  async (factor) => {
    await addPasskey("one", 1);
    await addPasskey("bob's", 2);
    const asked = await ask(factor);
    expect(asked.text).not.toContain("Remove this factor?");
    expect(await stored()).toEqual(["bob's", "one"]);
  },
);
