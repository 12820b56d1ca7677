import { randomUUID } from "node:crypto";
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClientDeclaration } from "../../../src/provider/embedded/client-declaration.ts";
import { Browser } from "../../support/browser.ts";
import { ALICE } from "../../support/memory-accounts.ts";
import {
  begin,
  CALLBACK,
  enter,
  type RunningProvider,
  redeem,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

/** A public client of somebody else: PKCE only, and people are asked. */
const FOREIGN: ClientDeclaration = {
  id: randomUUID(),
  name: "Foreign & Co",
  flows: ["code"],
  redirectUris: [CALLBACK],
  postLogoutRedirectUris: [],
  asksConsent: true,
};
const BOB = { ...ALICE, id: randomUUID(), username: "bob", email: "bob@example.com" };

let iam: RunningProvider;
let configuration: client.Configuration;
beforeAll(async () => {
  iam = await startProvider({ clients: [FOREIGN] });
  iam.accounts.add(BOB);
  configuration = await iam.configure(FOREIGN);
});
afterAll(stopAll);

test("a public client gets tokens after consent, and is not asked for again [IDP-11]", async () => {
  const browser = new Browser(iam.origin);
  const begun = await begin(configuration);
  const asked = await enter(browser, await browser.open(begun.url.href));
  expect(asked.text).toContain(
    "<strong><bdi>Foreign &amp; Co</bdi></strong> asks <bdi>alice</bdi> for:",
  );
  expect(asked.text).toContain("your e-mail address");
  expect(asked.text).toContain(
    "<strong><bdi>Foreign &amp; Co</bdi></strong>, it acts as you: it may do there all that you may do.",
  );
  const back = await browser.submit(asked, { action: "consent" });
  const tokens = await redeem(configuration, back.url, begun);
  expect(tokens.claims()?.sub).toBe(ALICE.id);
  expect((await iam.events("login.consented"))[0]?.data).toMatchObject({
    resource: `user:${ALICE.id}`,
    details: { client: FOREIGN.id },
  });
  const again = await begin(configuration);
  const second = await browser.open(again.url.href);
  expect(second.url).toContain(CALLBACK);
  await client.refreshTokenGrant(configuration, tokens.refresh_token ?? "");
});

test.each([
  ["openid", {}, 1],
  ["openid offline_access", { prompt: "consent" }, 1],
  ["offline_access", { prompt: "consent", nonce: "" }, 1],
  ["openid profile email offline_access", {}, 3],
])(
  "whatever is asked for (%j), the page says that the client stays logged in",
  async (scope, more, told) => {
    const browser = new Browser(iam.origin);
    const { url } = await begin(configuration, { scope, ...more });
    if (url.searchParams.get("nonce") === "") url.searchParams.delete("nonce");
    const asked = await enter(browser, await browser.open(url.href));
    expect(asked.text).toContain(
      "<strong><bdi>Foreign &amp; Co</bdi></strong> stays logged in while you are away, until this login ends.",
    );
    expect(asked.text).toContain("<li>your user id</li>");
    expect(asked.text.match(/<li>/g)).toHaveLength(told);
  },
);

test("who refuses gives nothing [IDP-11]", async () => {
  const browser = new Browser(iam.origin);
  const begun = await begin(configuration);
  const asked = await enter(browser, await browser.open(begun.url.href));
  const back = await browser.submit(asked, { action: "cancel" });
  await expect(redeem(configuration, back.url, begun)).rejects.toMatchObject({
    error: "access_denied",
  });
});

test("a client is of a login once it has got something from it, not by its page", async () => {
  const carol = { ...ALICE, id: randomUUID(), username: "carol", email: "carol@example.com" };
  iam.accounts.add(carol);
  const clients = async () =>
    (await iam.provider.sessions.list(carol.id)).map((login) =>
      login.clients.map(({ clientId }) => clientId),
    );
  const browser = new Browser(iam.origin);
  const { url } = await begin(configuration);
  const asked = await enter(browser, await browser.open(url.href), { username: "carol" });
  expect(await clients()).toEqual([[]]);
  await browser.submit(asked, { action: "cancel" });
  expect(await clients()).toEqual([[]]);
  const again = await browser.open((await begin(configuration)).url.href);
  await browser.submit(again, { action: "consent" });
  expect(await clients()).toEqual([[FOREIGN.id]]);
});

test("a form of the consent page that says nothing gives nothing", async () => {
  const browser = new Browser(iam.origin);
  const begun = await begin(configuration);
  const asked = await enter(browser, await browser.open(begun.url.href));
  const again = await browser.submit(asked, { action: "" });
  expect(again.status).toBe(400);
  expect(again.text).toContain("asks <bdi>alice</bdi> for:");
});

test("prompt=none without a session is reported to the client", async () => {
  const begun = await begin(configuration, { prompt: "none" });
  const back = await new Browser(iam.origin).open(begun.url.href);
  expect(new URL(back.url).searchParams.get("error")).toBe("login_required");
});

test("prompt=login asks for the password again, and somebody else may log in", async () => {
  const browser = new Browser(iam.origin);
  const first = await begin(configuration);
  let visit = await enter(browser, await browser.open(first.url.href));
  visit = await browser.submit(visit, { action: "consent" });
  const alice = await redeem(configuration, visit.url, first);
  const second = await begin(configuration, { prompt: "login" });
  visit = await browser.open(second.url.href);
  expect(visit.text).toContain('name="password"');
  visit = await enter(browser, visit, { username: "bob" });
  // The session of the other one ends first, by hand: nothing is submitted by itself.
  expect(visit.text).toContain("Somebody else is logged in in this browser.");
  for (let count = 0; count < 3 && visit.url.startsWith(iam.origin); count++) {
    expect(visit.text).not.toContain("<script");
    const isConsent = visit.text.includes("asks <bdi>bob</bdi> for:");
    visit = await browser.submit(visit, isConsent ? { action: "consent" } : {});
  }
  const bob = await redeem(configuration, visit.url, second);
  expect(bob.claims()?.sub).toBe(BOB.id);
  expect(bob.claims()?.["sid"]).not.toBe(alice.claims()?.["sid"]);
  await expect(
    client.refreshTokenGrant(configuration, alice.refresh_token ?? ""),
  ).rejects.toMatchObject({ error: "invalid_grant" });
});
