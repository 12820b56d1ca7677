/** Who must have a second factor by a role, at a whole service, with both engines. */
import { readFileSync } from "node:fs";
import type { AuthorizationEngine } from "svc-access/authz";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type SpicedbServer,
  spicedbIsAbsent,
  startSpicedb,
} from "../../../../../test/support/spicedb.ts";
import { totpCode } from "../../../src/people/factors/one-time-codes.ts";
import { MAX_CHAIN } from "../../../src/rights/member-chains.ts";
import { relationship, write } from "../../rights/rights-engine.ts";
import { Browser, type Visit } from "../../support/browser.ts";
import { addUser, databaseOf, startSelf } from "../../support/browser-login.ts";
import type { IamService } from "../../support/iam-service.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";

const MODEL = new URL("../../../../../model/iam.zed", import.meta.url).pathname;
const REQUIRED = "Your account needs a second factor.";

let iam: IamService;
const at = () => `${iam.origin}/v1/iam/oidc/account`;

/** Starts it with alice, who owns the zone, bob, who does so by a group in a group, and carol. */
async function start(authz: Readonly<Record<string, unknown>>): Promise<void> {
  const second_factor = { required_for: ["owner", "user_manager"] };
  iam = await startSelf({ authz, iam: { second_factor }, logLevel: "silent" });
  await addUser(iam, "carol");
  const { engine } = iam.options;
  if (engine !== undefined && "writeSchema" in engine) {
    const writeSchema = engine.writeSchema as (text: string) => Promise<unknown>;
    await writeSchema.call(engine, readFileSync(MODEL, "utf8"));
  }
  const users = await databaseOf(iam).kysely.selectFrom("iam_users").selectAll().execute();
  const idOf = (username: string) => users.find((one) => one.username === username)?.id;
  const texts = [
    `zone:acme#owner@user:${idOf("alice")}`,
    `group:inner#member@user:${idOf("bob")}`,
    "group:outer#member@group:inner#member",
    "zone:acme#owner@group:outer#member",
    `zone:acme#user_viewer@user:${idOf("carol")}`,
    `zone:other#owner@user:${idOf("carol")}`,
  ];
  const updates = texts.map((text) => ({
    operation: "TOUCH" as const,
    relationship: relationship(text),
  }));
  await engine?.writeRelationships({ updates });
}

async function enterPassword(username: string) {
  const browser = new Browser(iam.origin);
  const form = { action: "login", username, password: PASSWORD };
  return { browser, page: await browser.submit(await browser.open(at()), form) };
}

const isLoggedIn = async (browser: Browser) => (await browser.request(at())).status === 200;

function enroll(browser: Browser, page: Visit): Promise<Visit> {
  const secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.text)?.[1] ?? "";
  const code = totpCode(secret.replaceAll(" ", ""), Math.floor(Date.now() / 30_000));
  return browser.submit(page, { action: "code", code });
}

function roles() {
  test.each(["alice", "bob"])(
    "%s, an owner, is not logged in before a factor is added [FACTOR-4]",
    async (username) => {
      const { browser, page } = await enterPassword(username);
      expect(page.text).toContain(REQUIRED);
      expect(await isLoggedIn(browser)).toBe(false);
      const done = await browser.submit(await enroll(browser, page), {});
      expect([done.url, await isLoggedIn(browser)]).toEqual([at(), true]);
    },
  );

  test("carol, who has other roles, and this one elsewhere, is logged in by the password [FACTOR-4]", async () => {
    const { browser, page } = await enterPassword("carol");
    expect([page.url, await isLoggedIn(browser)]).toEqual([at(), true]);
  });
}

describe("with the embedded engine", () => {
  beforeAll(() => start({}));
  afterAll(() => iam.stop());
  roles();
});

describe.skipIf(spicedbIsAbsent())("with SpiceDB", () => {
  let spicedb: SpicedbServer;
  beforeAll(async () => {
    spicedb = await startSpicedb();
    const { endpoint, token } = spicedb;
    await start({ provider: "spicedb", spicedb: { endpoint, token, insecure: true } });
  });
  afterAll(async () => {
    await iam.stop();
    await spicedb.stop();
  });
  roles();

  test("who has no role is logged in by the password beside the longest row of groups", async () => {
    const names = Array.from({ length: MAX_CHAIN }, (_, index) => `group:row-${index}`);
    const links = names.slice(1).map((name, index) => `${names[index]}#member@${name}#member`);
    const chain = ["zone:acme#user_manager@group:row-0#member", ...links];
    await write(iam.options.engine as AuthorizationEngine, ...chain);
    await addUser(iam, "erin");
    const { browser, page } = await enterPassword("erin");
    expect([page.url, await isLoggedIn(browser)]).toEqual([at(), true]);
  });

  test("who cannot be decided about adds a factor, and is not locked out [FACTOR-4]", async () => {
    // More than SpiceDB looks through. No call of svc-iam writes that.
    const names = Array.from({ length: 60 }, (_, index) => `group:deep-${index}`);
    const links = names.slice(1).map((name, index) => `${names[index]}#member@${name}#member`);
    const chain = ["zone:acme#user_manager@group:deep-0#member", ...links];
    await write(iam.options.engine as AuthorizationEngine, ...chain);
    await addUser(iam, "dora");
    const { browser, page } = await enterPassword("dora");
    expect([page.status, page.text]).toEqual([200, expect.stringContaining(REQUIRED)]);
    expect(await isLoggedIn(browser)).toBe(false);
    const done = await browser.submit(await enroll(browser, page), {});
    expect([done.url, await isLoggedIn(browser)]).toEqual([at(), true]);
    await write(iam.options.engine as AuthorizationEngine, ...chain.map((one) => `-${one}`));
  });

  test("while it is down, nobody is logged in by a password alone [FACTOR-4]", async () => {
    await spicedb.stop();
    const { browser, page } = await enterPassword("carol");
    expect([page.status, await isLoggedIn(browser)]).toEqual([503, false]);
    // A page of its own, with the number of the request.
    expect(page.text).toMatch(/<h1>Try again<\/h1>[^]*Request: <code>[^<]+<\/code>/);
    // Who has a factor is asked for it: that takes no role.
    const { page: second } = await enterPassword("alice");
    expect([second.status, second.text]).toEqual([
      200,
      expect.stringContaining("Confirm that it is you"),
    ]);
  });
});
