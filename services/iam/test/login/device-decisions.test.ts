/** Several decisions on one device at the same moment: the first one counts, and stays. */
import { randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import * as client from "openid-client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ProviderDocuments } from "../../src/ground/store/provider-documents.ts";
import { Browser, type Visit } from "../support/browser.ts";
import { postgres, sqlite, type TestDatabase } from "../support/databases.ts";
import { ALICE, MemoryAccounts } from "../support/memory-accounts.ts";
import {
  ASKING_TV,
  begin,
  CONSOLE,
  enter,
  pollDevice,
  type RunningProvider,
  startProvider,
  TV,
} from "../support/provider-server.ts";

const BOB = { ...ALICE, id: randomUUID(), username: "bob" };
const YES = { confirm: "yes" };
const LOGGED_IN = "The device is logged in";
const USED = "The code was already used";
const REFUSED = "The login was refused.";

const newPostgres = await postgres();
const databases: [string, () => Promise<TestDatabase>][] = [["SQLite", sqlite]];
if (newPostgres !== undefined) databases.push(["PostgreSQL", newPostgres]);

describe.each(databases)("on %s", (_, newDatabase) => {
  let iam: RunningProvider;
  beforeAll(async () => {
    const accounts = new MemoryAccounts();
    accounts.add(BOB);
    const at = await newDatabase();
    iam = await startProvider({ clients: [CONSOLE, TV, ASKING_TV], accounts, at });
  });
  afterAll(() => iam.stop());

  async function loggedIn(username: string): Promise<Browser> {
    const browser = new Browser(iam.origin);
    const { url } = await begin(await iam.configure(CONSOLE));
    await enter(browser, await browser.open(url.href), { username });
    return browser;
  }

  /** The pages of some browsers that ask whether one device is to be logged in. */
  async function confirmations(browsers: readonly Browser[], declared = TV) {
    const configuration = await iam.configure(declared);
    const begun = await client.initiateDeviceAuthorization(configuration, { scope: "openid" });
    const link = begun.verification_uri_complete ?? "";
    const pages: Visit[] = [];
    for (const browser of browsers) {
      pages.push(await browser.submit(await browser.open(link), {}));
    }
    const poll = async () => {
      const { text } = await pollDevice(iam, begun.device_code, declared);
      const { error, id_token } = JSON.parse(text);
      return error ?? decodeJwt(id_token).sub;
    };
    return { pages, poll };
  }

  /** Lets the next requests with a user code go on once `meanwhile` is done, when all of them have read the code. */
  function whenRead(requests: number, meanwhile: () => Promise<unknown> = async () => undefined) {
    const { findBy } = ProviderDocuments.prototype;
    let left = requests;
    let go = () => {};
    const all = new Promise<void>((resolve) => {
      go = resolve;
    });
    const spy = vi.spyOn(ProviderDocuments.prototype, "findBy");
    spy.mockImplementation(async function (this: ProviderDocuments, ...given) {
      const found = await findBy.apply(this, given);
      if (given[1] !== "user_code" || left === 0) return found;
      if (--left === 0) {
        await meanwhile();
        go();
      }
      await all;
      return found;
    });
    return { [Symbol.dispose]: () => spy.mockRestore() };
  }

  const saying = (visits: readonly Visit[]) =>
    visits.map(({ text }) => [LOGGED_IN, USED, REFUSED].find((one) => text.includes(one)));
  const approvals = async () => (await iam.events("device.approved")).map((one) => one.subject);

  test("of two persons, one logs the device in, and it stays theirs [IDP-8, IDP-18]", async () => {
    for (let round = 0; round < 5; round++) {
      const browsers = await Promise.all(["alice", "bob"].map((name) => loggedIn(name)));
      const { pages, poll } = await confirmations(browsers);
      const before = (await approvals()).length;
      using _reading = whenRead(2);
      const visits = await Promise.all(
        browsers.map((browser, at) => browser.submit(pages[at] as Visit, YES)),
      );
      expect(saying(visits).toSorted()).toEqual([USED, LOGGED_IN].toSorted());
      const owner = [ALICE, BOB][saying(visits).indexOf(LOGGED_IN)]?.id;
      expect((await approvals()).slice(before)).toEqual([`user:${owner}`]);
      expect(await poll()).toBe(owner);
    }
  });

  test.each([
    ["the same browser", false],
    ["another browser", true],
  ])("a refusal in %s stays, whatever was under way [IDP-8, IDP-18]", async (_, isOther) => {
    const alice = await loggedIn("alice");
    const other = isOther ? await loggedIn("bob") : alice;
    const { pages, poll } = await confirmations([alice, other]);
    const [own, page] = pages as [Visit, Visit];
    let refused: Visit | undefined;
    using _reading = whenRead(1, async () => {
      refused = await other.submit(page, { abort: "yes" });
    });
    const approved = await alice.submit(own, YES);
    expect(saying([refused as Visit])).toEqual([REFUSED]);
    expect(saying([approved])).toEqual([isOther ? USED : REFUSED]);
    expect(await poll()).toBe("access_denied");
  });

  test("a consent that is cancelled after another tab has logged the device in changes nothing [IDP-8]", async () => {
    const alice = await loggedIn("alice");
    const { pages, poll } = await confirmations([alice], ASKING_TV);
    const [page] = pages as [Visit];
    const first = await alice.submit(page, YES);
    expect(first.text).toContain("Allow access?");
    const cookies = ["iam_interaction", "iam_resume"].map((name) => [name, alice.cookie(name)]);
    const later = await alice.submit(await alice.submit(page, YES), { action: "consent" });
    expect(saying([later])).toEqual([LOGGED_IN]);
    // Browsers keep the cookies of each page.
    for (const [name = "", value = ""] of cookies) alice.setCookie(name, value, "/v1/iam/oidc");
    expect(saying([await alice.submit(first, { action: "cancel" })])).toEqual([LOGGED_IN]);
    expect(await poll()).toBe(ALICE.id);
  });
});
