/** Names that people and clients choose do not turn the sentences around them, in whichever direction they are written. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { LocalAccounts } from "../../src/people/accounts/local-accounts.ts";
import { linkOf } from "../support/bootstrap.ts";
import { Browser } from "../support/browser.ts";
import { databaseOf, loggedIn, startSelf } from "../support/browser-login.ts";
import { serviceHasher } from "../support/hash-cost.ts";
import type { IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";
import { resetLinkOf } from "../support/passwords.ts";

const CLIENT = "7a2f1c1e-0d6a-4bb1-8a5a-0d8c1ef1a0e2";
const PRODUCT = "מוצר";
const APP = "יישום";
const USER = "דוד";
const OWNER = "רות";
const PERSON = "דוד המלך";

let iam: IamService;
let browser: Browser;
let reset: string;
/** What the first owner has seen. */
let owned: string;
beforeAll(async () => {
  const client = { id: CLIENT, name: APP, flows: ["code", "device"] };
  iam = await startSelf({
    authn: { mode: "hybrid" },
    iam: {
      pages: { name: PRODUCT },
      clients: [{ ...client, redirect_uris: ["https://app.example.com/callback"] }],
    },
  });
  const first = new Browser(iam.origin);
  const form = await first.open((await linkOf(iam)).url);
  const person = { username: OWNER, display_name: OWNER, email: "ruth@example.com" };
  const passwords = { password: PASSWORD, repeated: PASSWORD };
  owned = (await first.submit(form, { ...person, ...passwords })).text;
  const passwordHash = await serviceHasher.hash(PASSWORD);
  const account = await new LocalAccounts(databaseOf(iam).kysely, "acme").create({
    username: USER,
    displayName: PERSON,
    email: "david@example.com",
    passwordHash,
  });
  reset = (await resetLinkOf(iam, account?.id ?? "")).url;
  browser = await loggedIn(iam, USER);
});
afterAll(() => iam.stop());

const at = (path: string) => `${iam.origin}${path}`;

const authorization = (more: object) =>
  at(
    `/v1/iam/oidc/auth?${new URLSearchParams({
      client_id: CLIENT,
      response_type: "code",
      scope: "openid",
      redirect_uri: "https://app.example.com/callback",
      code_challenge: "a".repeat(43),
      code_challenge_method: "S256",
      ...more,
    })}`,
  );

async function devicePage(): Promise<string> {
  const begun = await fetch(at("/v1/iam/oidc/device/auth"), {
    method: "POST",
    body: new URLSearchParams({ client_id: CLIENT, scope: "openid" }),
  });
  const { user_code } = (await begun.json()) as { readonly user_code: string };
  const page = await browser.open(at("/v1/iam/oidc/device"));
  return (await browser.submit(page, { user_code })).text;
}

/** What somebody sees who goes back to the page of a login that is complete. */
async function completedLogin(): Promise<string> {
  const visitor = new Browser(iam.origin);
  const login = await visitor.open(at("/v1/iam/ui/login"));
  await visitor.submit(login, { action: "login", username: USER, password: PASSWORD });
  return textOf(login.url, visitor);
}

const textOf = async (url: string, visitor = browser) => (await visitor.open(url)).text;

test.each<[string, () => Promise<string>, readonly string[]]>([
  ["first owner", async () => owned, [OWNER]],
  ["login", () => textOf(at("/v1/iam/ui/login"), new Browser(iam.origin)), [PRODUCT]],
  ["login of a client", () => textOf(authorization({ prompt: "login" })), [APP]],
  ["completed login", completedLogin, [PRODUCT]],
  ["consent", () => textOf(authorization({})), [APP, USER]],
  ["device confirmation", devicePage, [APP]],
  ["logged in", () => textOf(at("/v1/iam/ui/account")), [PERSON]],
  ["logout", () => textOf(at("/v1/iam/logout")), [PERSON]],
  ["new password", () => textOf(reset, new Browser(iam.origin)), [USER]],
  ["sessions", () => textOf(at("/v1/iam/oidc/account/sessions")), [PRODUCT]],
])("on the page %s [PAGE-8]", async (_, open, names) => {
  const main = (await open()).replace(/^[\s\S]*<main/, "<main");
  for (const name of names) {
    expect(main).toContain(`<bdi>${name}</bdi>`);
    // Texts, and not the values of fields.
    const texts = main.replaceAll(`<bdi>${name}</bdi>`, "").replaceAll(/<[^>]*>/g, "");
    expect(texts).not.toContain(name);
  }
});
