/** Passkeys of a software authenticator, over the pages: what is wrong is refused, and audited. */
import { generateKeyPairSync } from "node:crypto";
import type { Kysely } from "svc-access/database";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Authenticator, type Ceremony, type PasskeyOptions } from "../../support/authenticator.ts";
import { type Browser, fieldOf, type Visit } from "../../support/browser.ts";
import { addUser, databaseOf, startSelf } from "../../support/browser-login.ts";
import type { IamService } from "../../support/iam-service.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";
import { newBrowser } from "../../support/passwords.ts";

const ACCOUNT = "/v1/iam/oidc/account";

let iam: IamService;
let alices: Authenticator;
let bobs: Authenticator;
beforeAll(async () => {
  iam = await startSelf();
  await addUser(iam, "carol");
  [alices, bobs] = [await withPasskey("alice"), await withPasskey("bob")];
});
afterAll(() => iam.stop());

const at = (path = "") => `${iam.origin}${ACCOUNT}${path}`;
const users = () => databaseOf(iam).kysely.updateTable("iam_users");
const stored = () =>
  databaseOf(iam).kysely.selectFrom("iam_second_factors").selectAll().orderBy("id").execute();

/** How many events with a passkey the audit has. */
async function countEvents(type: string): Promise<number> {
  const kysely = databaseOf(iam).kysely as unknown as Kysely<any>;
  const rows = await kysely.selectFrom("audit_events").selectAll().execute();
  const texts = rows.map((row) => JSON.stringify(row));
  return texts.filter((text) => text.includes(type) && text.includes("passkey")).length;
}

/** The counter of a passkey in the database. */
async function counterOf({ id }: Authenticator): Promise<number> {
  const row = (await stored()).find((one) => one.credential_id === id.toString("base64url"));
  return Number(row?.counter);
}

/** What the page asks an authenticator for. */
function optionsOf({ text }: Visit): PasskeyOptions {
  const found = /data-passkey="([^"]*)"/.exec(text)?.[1] ?? "";
  return JSON.parse(found.replaceAll("&quot;", '"').replaceAll("&amp;", "&"));
}

async function enterPassword(browser: Browser, username: string): Promise<Visit> {
  const page = await browser.open(at());
  return browser.submit(page, { action: "login", username, password: PASSWORD });
}

/** Logs somebody in, on the page of the factors. */
async function factorsOf(username: string, passkey?: Authenticator) {
  const browser = newBrowser(iam);
  const page = await enterPassword(browser, username);
  if (passkey !== undefined) {
    await browser.submit(page, { action: "passkey", passkey: passkey.use(optionsOf(page)) });
  }
  return { browser, page: await browser.open(at("/factors")) };
}

function add(browser: Browser, page: Visit, passkey: string): Promise<Visit> {
  const pending = /name="pending" type="hidden" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
  // The page has several forms, which have the same token.
  const form_token = fieldOf(page, "form_token");
  return browser.submit(page, { action: "passkey", passkey, pending, form_token });
}

async function withPasskey(username: string, isCounting = true): Promise<Authenticator> {
  const authenticator = new Authenticator(iam.origin, isCounting);
  const { browser, page } = await factorsOf(username);
  const added = await add(browser, page, authenticator.create(optionsOf(page)));
  expect([added.status, added.text]).toEqual([200, expect.stringContaining("recovery codes")]);
  return authenticator;
}

/** Whether a page says that a passkey was not accepted. */
const saysRefused = ({ text }: Visit) =>
  /role="alert"[^>]*>(?:<p>)?The passkey was not accepted\./.test(text);

/** A page that asks for a passkey: in place of the password, or after the one of alice. */
type Asking = "alone" | "after the password";
async function ask(asking: Asking, browser = newBrowser(iam)) {
  const page = await (asking === "alone" ? browser.open(at()) : enterPassword(browser, "alice"));
  return { browser, page, options: optionsOf(page) };
}

describe("a login", () => {
  beforeAll(async () => {
    for (let counter = 1; counter <= 2; counter++) {
      const { browser, page, options } = await ask("alone");
      await browser.submit(page, { action: "passkey", passkey: alices.use(options) });
      expect(await counterOf(alices)).toBe(counter);
    }
  });
  beforeEach(async () => {
    await databaseOf(iam).kysely.deleteFrom("iam_throttles").execute();
  });

  const BOTH: readonly Asking[] = ["alone", "after the password"];
  const otherKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const changed = (change: () => Partial<Ceremony>) => (options: PasskeyOptions) =>
    alices.use(options, change());
  /** A good answer with another part. */
  const spoilt = (spoil: (answer: any) => void) => (options: PasskeyOptions) => {
    const answer = JSON.parse(alices.use(options));
    spoil(answer);
    return JSON.stringify(answer);
  };
  const BAD: readonly [
    name: string,
    answer: (options: PasskeyOptions) => string | Promise<string>,
    askings?: readonly Asking[],
  ][] = [
    ["of another origin", changed(() => ({ origin: "https://iam.example.net" }))],
    ["of another port", changed(() => ({ origin: "http://localhost:1" }))],
    ["of an origin that begins as this one", changed(() => ({ origin: `${iam.origin}.example` }))],
    ["for another site", changed(() => ({ rpId: "example.net" }))],
    ["of another kind", changed(() => ({ type: "webauthn.create" }))],
    ["for a challenge of nobody", changed(() => ({ challenge: "AAAA" }))],
    ["without a challenge", changed(() => ({ challenge: "" }))],
    [
      "for the challenge of somebody else's page",
      async () => alices.use((await ask("alone")).options),
    ],
    ["without a person", changed(() => ({ isPresent: false }))],
    // As the only factor, the authenticator must have checked the person.
    ["without a check of the person", changed(() => ({ isVerified: false })), ["alone"]],
    [
      "with the counter of before",
      async (options) => alices.use(options, { counter: await counterOf(alices) }),
    ],
    [
      "with a counter that went back",
      async (options) => alices.use(options, { counter: (await counterOf(alices)) - 1 }),
    ],
    ["without a counter", changed(() => ({ counter: 0 }))],
    ["by another key", changed(() => ({ signer: otherKey() }))],
    ["by the key of somebody else", changed(() => ({ signer: bobs.signer }))],
    ["with an unknown id", changed(() => ({ id: Buffer.alloc(32, 1) }))],
    ["with the id of somebody else", changed(() => ({ id: bobs.id }))],
    ["of somebody else", (options) => bobs.use(options), ["after the password"]],
    ["without a signature", spoilt(({ response }) => delete response.signature)],
    ["without data", spoilt(({ response }) => delete response.authenticatorData)],
    ["without parts", spoilt((answer) => delete answer.response)],
    ["with two ids", spoilt((answer) => void (answer.rawId = bobs.id.toString("base64url")))],
    ["with the character NUL", spoilt((answer) => void (answer.id = "\0"))],
    ["with short data", spoilt(({ response }) => void (response.authenticatorData = "AAAA"))],
    ["with a client of no JSON", spoilt(({ response }) => void (response.clientDataJSON = "AAAA"))],
    ["that is too long", spoilt((answer) => void (answer.more = "x".repeat(17 * 1024)))],
  ];
  const rows = BAD.flatMap(([name, answer, askings = BOTH]) =>
    askings.map((asking) => [name, asking, answer] as const),
  );
  test.each(rows)("with an answer %s, %s, is refused [FACTOR-3]", async (_, asking, answer) => {
    const before = await countEvents("second_factor.failed");
    const factors = await stored();
    const { browser, page, options } = await ask(asking);
    const next = await browser.submit(page, { action: "passkey", passkey: await answer(options) });
    expect([next.status, saysRefused(next)]).toEqual([401, true]);
    expect((await browser.request(at())).status).toBe(303);
    expect(await countEvents("second_factor.failed")).toBe(before + 1);
    expect(await stored()).toEqual(factors);
  });

  test.each(BOTH)(
    "an answer, %s, is not accepted again, also where nothing counts [FACTOR-3]",
    async (asking) => {
      const carols = await withPasskey("carol", false);
      const carol = async (browser: Browser) =>
        asking === "alone" ? browser.open(at()) : enterPassword(browser, "carol");
      const [first, second] = [newBrowser(iam), newBrowser(iam)];
      const [page, other] = [await carol(first), await carol(second)];
      const answer = carols.use(optionsOf(page));
      const form = { action: "passkey", passkey: answer };
      expect((await first.submit(page, form)).url).toBe(at());

      // On another page, with its own form and with that of the first one.
      expect((await second.submit(other, form)).status).toBe(401);
      const taken = { ...form, form_token: fieldOf(page, "form_token") };
      expect((await second.submit(await carol(second), taken)).status).toBe(403);
      expect((await second.request(at())).status).toBe(303);
      await databaseOf(iam)
        .kysely.deleteFrom("iam_second_factors")
        .where("credential_id", "=", carols.id.toString("base64url"))
        .execute();
    },
  );

  test("an answer to the page before is refused, after a failed attempt", async () => {
    const { browser, page, options } = await ask("after the password");
    const failed = await browser.submit(page, { action: "passkey", passkey: "{}" });
    const answer = { action: "passkey", passkey: alices.use(options) };
    expect((await browser.submit(failed, answer)).status).toBe(401);
  });

  test("a disabled user is not logged in by a passkey alone [FACTOR-8]", async () => {
    const before = await countEvents("second_factor.failed");
    const set = (disabled: number) =>
      users().set({ disabled }).where("username", "=", "bob").execute();
    const { browser, page, options } = await ask("alone");
    await set(1);
    try {
      const next = await browser.submit(page, { action: "passkey", passkey: bobs.use(options) });
      expect([next.status, saysRefused(next)]).toEqual([401, true]);
      expect((await browser.request(at())).status).toBe(303);
      expect(await countEvents("second_factor.failed")).toBe(before + 1);
    } finally {
      await set(0);
    }
  });

  test.each<[string, Asking, Partial<Ceremony>]>([
    ["alone", "alone", {}],
    ["after the password", "after the password", {}],
    // The password has checked the person.
    ["after the password without another check", "after the password", { isVerified: false }],
  ])("a passkey %s logs in, and is counted [FACTOR-3]", async (_, asking, change) => {
    const before = await countEvents("second_factor.used");
    const { browser, page, options } = await ask(asking);
    const passkey = alices.use(options, change);
    expect((await browser.submit(page, { action: "passkey", passkey })).url).toBe(at());
    expect(await countEvents("second_factor.used")).toBe(before + 1);
    expect(await counterOf(alices)).toBe(alices.counter);
  });
});

describe("a new passkey", () => {
  const COSE_ES384 = -35;
  const BAD: readonly [
    name: string,
    answer: (made: Authenticator, options: PasskeyOptions) => string | Promise<string>,
  ][] = [
    ["of another origin", (made, options) => made.create(options, { origin: "https://x.example" })],
    ["for another site", (made, options) => made.create(options, { rpId: "x.example" })],
    ["of another kind", (made, options) => made.create(options, { type: "webauthn.get" })],
    [
      "for somebody else's challenge",
      async (made) => made.create(optionsOf((await factorsOf("bob", bobs)).page)),
    ],
    ["without a person", (made, options) => made.create(options, { isPresent: false })],
    ["of an unknown attestation", (made, options) => made.create(options, { format: "mine" })],
    [
      "of the attestation none with a statement",
      (made, options) => made.create(options, { statement: new Map([["sig", Buffer.alloc(64)]]) }),
    ],
    [
      "of an attestation with a wrong signature",
      (made, options) =>
        made.create(options, {
          format: "packed",
          statement: new Map<string, number | Buffer>([
            ["alg", -7],
            ["sig", Buffer.alloc(70)],
          ]),
        }),
    ],
    [
      "of another algorithm",
      (made, options) => made.create(options, { key: new Map([...made.key, [3, COSE_ES384]]) }),
    ],
    ["without a key", (made, options) => made.create(options, { key: new Map() })],
    ["with a long id", (made, options) => made.create(options, { id: Buffer.alloc(1024, 1) })],
    ["that is too long", (made, options) => made.create(options, { id: Buffer.alloc(5000, 1) })],
    ["that somebody else has", (_, options) => alices.create(options)],
    ["that is an answer to a login", (_, options) => alices.use(options)],
    ["of no JSON", () => "{"],
  ];
  test.each(BAD)("%s is refused [FACTOR-3]", async (_, answer) => {
    const before = await countEvents("second_factor.failed");
    const factors = (await stored()).map(({ id }) => id);
    const { browser, page } = await factorsOf("bob", bobs);
    const passkey = await answer(new Authenticator(iam.origin), optionsOf(page));
    const next = await add(browser, page, passkey);
    expect([next.status, saysRefused(next)]).toEqual([400, true]);
    expect((await stored()).map(({ id }) => id)).toEqual(factors);
    expect(await countEvents("second_factor.failed")).toBe(before + 1);
  });
});
