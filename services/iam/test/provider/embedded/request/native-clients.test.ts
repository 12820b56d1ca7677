/** Applications on the machine of the person, which listen at whichever port is free (RFC 8252). */
import { randomUUID } from "node:crypto";
import type * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClientDeclaration } from "../../../../src/provider/embedded/client-declaration.ts";
import { clientMetadata } from "../../../../src/provider/embedded/client-metadata.ts";
import { Browser } from "../../../support/browser.ts";
import { ALICE } from "../../../support/memory-accounts.ts";
import {
  begin,
  enter,
  type RunningProvider,
  redeem,
  startProvider,
  stopAll,
} from "../../../support/provider-server.ts";

const HOSTS = ["localhost", "127.0.0.1", "[::1]"];
const NATIVE: ClientDeclaration = {
  id: randomUUID(),
  name: "Editor",
  flows: ["code"],
  redirectUris: HOSTS.map((host) => `http://${host}/callback`),
  postLogoutRedirectUris: ["http://127.0.0.1/bye"],
  asksConsent: false,
};
/** One that declares a port, so it is compared, too. */
const FIXED: ClientDeclaration = {
  ...NATIVE,
  id: randomUUID(),
  redirectUris: ["http://127.0.0.1:8000/callback", "http://127.0.0.1/callback"],
};

let iam: RunningProvider;
let native: client.Configuration;
let fixed: client.Configuration;
beforeAll(async () => {
  iam = await startProvider({ clients: [NATIVE, FIXED] });
  native = await iam.configure(NATIVE);
  fixed = await iam.configure(FIXED);
});
afterAll(stopAll);

test.each([
  ["localhost", 49_152],
  ["127.0.0.1", 1024],
  ["[::1]", 65_535],
])(
  "a person comes back to a port of %s, after a consent in each login [IDP-10]",
  async (host, port) => {
    const redirectUri = `http://${host}:${port}/callback`;
    const browser = new Browser(iam.origin);
    for (const isLoggedIn of [false, true]) {
      const begun = await begin(native, { redirect_uri: redirectUri });
      let visit = await browser.open(begun.url.href);
      if (!isLoggedIn) visit = await enter(browser, visit);
      // Any program of this machine could have asked in the name of the client.
      expect(visit.text).toContain("<strong><bdi>Editor</bdi></strong> asks <bdi>alice</bdi> for:");
      expect(visit.headers?.get("content-security-policy")).toContain(
        `form-action 'self' http://${host}:${port};`,
      );
      const back = await browser.submit(visit, { action: "consent" });
      expect(back.url.startsWith(`${redirectUri}?`)).toBe(true);
      const tokens = await redeem(native, back.url, begun);
      expect(tokens.claims()?.sub).toBe(ALICE.id);
    }
  },
);

test("it gets nothing without the person, also with prompt=none", async () => {
  const browser = new Browser(iam.origin);
  const parameters = { redirect_uri: "http://127.0.0.1:4000/callback" };
  const begun = await begin(native, parameters);
  const consent = await enter(browser, await browser.open(begun.url.href));
  await browser.submit(consent, { action: "consent" });
  const silent = await begin(native, { ...parameters, prompt: "none" });
  const back = new URL((await browser.open(silent.url.href)).url);
  expect(back.searchParams.get("error")).toBe("interaction_required");
});

test("a code is not redeemed with another port than it was sent to", async () => {
  const browser = new Browser(iam.origin);
  const begun = await begin(native, { redirect_uri: "http://127.0.0.1:4000/callback" });
  const consent = await enter(browser, await browser.open(begun.url.href));
  const back = await browser.submit(consent, { action: "consent" });
  const other = back.url.replace(":4000", ":4001");
  await expect(redeem(native, other, begun)).rejects.toMatchObject({ error: "invalid_grant" });
});

test.each([
  ["another path", "http://127.0.0.1:4000/other"],
  ["a slash at the end", "http://127.0.0.1:4000/callback/"],
  ["a query", "http://127.0.0.1:4000/callback?a=b"],
  ["a fragment", "http://127.0.0.1:4000/callback#a"],
  ["TLS", "https://127.0.0.1:4000/callback"],
  ["another scheme", "editor://127.0.0.1:4000/callback"],
  ["another address of this machine", "http://127.0.0.2:4000/callback"],
  ["an address in another spelling", "http://2130706433:4000/callback"],
  ["a longer host", "http://127.0.0.1.evil.example.net:4000/callback"],
  ["a user", "http://127.0.0.1:4000@evil.example.net/callback"],
  ["a user at this machine", "http://evil@127.0.0.1:4000/callback"],
  ["a backslash", "http://127.0.0.1:4000\\@evil.example.net/callback"],
  ["a port that is none", "http://127.0.0.1:99999/callback"],
  ["words for a port", "http://127.0.0.1:4000x/callback"],
  ["white space", "http://127.0.0.1:4000 /callback"],
])("%s is refused with a page, and leads nowhere [IDP-10]", async (_, uri) => {
  const { url } = await begin(native, { redirect_uri: uri });
  const response = await new Browser(iam.origin).request(url.href);
  expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  expect(await response.text()).not.toContain("evil");
});

test("where a redirect URI has a port, all are compared with theirs [IDP-10]", async () => {
  for (const [uri, status] of [
    ["http://127.0.0.1:8000/callback", 303],
    ["http://127.0.0.1/callback", 303],
    ["http://127.0.0.1:8001/callback", 400],
  ] as const) {
    const { url } = await begin(fixed, { redirect_uri: uri });
    expect([uri, (await new Browser(iam.origin).request(url.href)).status]).toEqual([uri, status]);
  }
});

test.each<[string, Partial<ClientDeclaration>, string]>([
  ["no credential", {}, "native"],
  ["a secret", { secret: "x".repeat(43) }, "web"],
  ["a key", { publicKeys: [{ kty: "OKP" }] }, "web"],
  [
    "TLS beside it",
    { redirectUris: [...NATIVE.redirectUris, "https://localhost/callback"] },
    "web",
  ],
  ["a site beside it", { redirectUris: [...NATIVE.redirectUris, "https://a.example/b"] }, "web"],
  ["a logout elsewhere", { postLogoutRedirectUris: ["https://a.example/b"] }, "web"],
  ["an address that only this machine has", { redirectUris: ["http://127.0.0.2/callback"] }, "web"],
  ["the device flow alone", { flows: ["device"], redirectUris: [] }, "web"],
])("with %s a client is one of this kind or not", (_, change, type) => {
  expect(clientMetadata({ ...NATIVE, ...change }).application_type).toBe(type);
});
