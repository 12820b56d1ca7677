/**
 * What people do with svc-iam as images contain it. A bundler changes names, and how packages are loaded; each way here
 * loads others.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { totpCode } from "../../src/people/factors/one-time-codes.ts";
import { Authenticator, type PasskeyOptions } from "../support/authenticator.ts";
import { FIRST } from "../support/bootstrap.ts";
import { Browser, fieldOf, type Visit } from "../support/browser.ts";
import { approve, linkIn } from "../support/command-line.ts";
import { BundledProgram } from "./bundled-program.ts";

const { username = "", password = "" } = FIRST;
const LOGIN = { action: "login", username, password };
const REPORTER = {
  id: "7a2f1c1e-0d6a-4bb1-8a5a-0d8c1ef1a0e2",
  secret: "0123456789abcdef".repeat(2),
};
const CLIENTS = `  clients:
    - id: ${REPORTER.id}
      name: Reporter
      flows: [service_account]
      client_secret: ${REPORTER.secret}
`;

let iam: BundledProgram;
beforeAll(async () => {
  iam = await BundledProgram.make((sample) => sample.replace("  clients:\n", CLIENTS));
  await iam.serve();
});
afterAll(() => iam.remove());

const at = (path = "") => `${iam.origin}/v1/iam/oidc/account${path}`;
const step = () => Math.floor(Date.now() / 30_000);

/** Runs a command that must succeed. */
async function printed(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await iam.run(...args);
  expect([args, status, status === 0 ? "" : stderr]).toEqual([args, 0, ""]);
  return stdout;
}

/** Sends the form of a page with several forms. */
function send(browser: Browser, page: Visit, fields: Readonly<Record<string, string>>) {
  return browser.submit(page, { form_token: fieldOf(page, "form_token"), ...fields });
}

function passkeyOptions({ text }: Visit): PasskeyOptions {
  const found = /data-passkey="([^"]*)"/.exec(text)?.[1] ?? "";
  return JSON.parse(found.replaceAll("&quot;", '"').replaceAll("&amp;", "&"));
}

test("the first owner is made by the link of bootstrap, and a common password is refused [DEPLOY-9]", async () => {
  const link = (await printed("bootstrap", iam.configuration)).trim();
  const browser = new Browser(iam.origin);
  const common = { ...FIRST, password: "password1234", repeated: "password1234" };
  const refused = await browser.submit(await browser.open(link), common);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("common")]);
  const done = await browser.submit(refused, FIRST);
  expect([done.status, done.text]).toEqual([200, expect.stringContaining("has an owner")]);
});

test("a person logs the command line in, and its commands answer [DEPLOY-9]", async () => {
  const login = iam.start("login", iam.origin);
  const browser = new Browser(iam.origin);
  await approve(browser, await linkIn(login), FIRST);
  await new Promise((resolve) => login.once("close", resolve));
  expect(await printed("whoami")).toContain(username);
  const made = await printed(
    ...["user", "create", "bob", "--email", "bob@example.com", "--display-name", "Bob"],
  );
  const link = /https?:\S+/.exec(made)?.[0] ?? (await printed("user", "reset-link", "bob")).trim();
  const visitor = new Browser(iam.origin);
  const next = { password: "a long new password of bob", repeated: "a long new password of bob" };
  const set = await visitor.submit(await visitor.open(link), next);
  expect([set.status, set.text]).toEqual([200, expect.stringContaining("The password was set")]);
  const bob = { action: "login", username: "bob", password: next.password };
  expect((await visitor.submit(await visitor.open(at()), bob)).url).toBe(at());
  for (const command of [
    ["user", "list"],
    ["group", "list"],
    ["session", "list"],
    ["service-account", "list"],
    ["relationship", "list", "--resource", "zone:acme"],
    ["relationship", "export", "--resource", "zone"],
    ["who-can", "owner", "zone:acme"],
    ["check", "user:bob", "admin", "zone:acme", "--explain"],
    ["audit", "query"],
    ["client", "list", iam.configuration],
    ["client", "plan", iam.configuration],
    ["config", "check", iam.configuration],
    ["config", "print", iam.configuration],
    ["completion", "bash"],
    ["token"],
    ["logout"],
    ["key", "rotate", "--urgent", iam.configuration],
  ]) {
    const { status, stderr } = await iam.run(...command);
    const isAnswer = status === 0 || (command[0] === "check" && status === 1);
    expect([command, isAnswer, isAnswer ? "" : stderr]).toEqual([command, true, ""]);
    expect(stderr).not.toContain("    at ");
  }
});

test("a service account gets a token [DEPLOY-9]", async () => {
  const authorization = `Basic ${btoa(`${REPORTER.id}:${REPORTER.secret}`)}`;
  const body = new URLSearchParams({ grant_type: "client_credentials" });
  const url = `${iam.origin}/v1/iam/oidc/token`;
  const response = await fetch(url, { method: "POST", headers: { authorization }, body });
  expect([response.status, await response.json()]).toEqual([
    200,
    expect.objectContaining({ token_type: "Bearer" }),
  ]);
});

test("a person logs in, with an app, a recovery code and a passkey [DEPLOY-9]", async () => {
  const browser = new Browser(iam.origin);
  const account = await browser.submit(await browser.open(at()), LOGIN);
  expect([account.status, account.url]).toEqual([200, at()]);
  const passkey = new Authenticator(iam.origin);
  const factors = await browser.open(at("/factors"));
  const pending = /name="pending" type="hidden" value="([^"]*)"/.exec(factors.text)?.[1] ?? "";
  const created = passkey.create(passkeyOptions(factors));
  const withPasskey = await send(browser, factors, {
    action: "passkey",
    passkey: created,
    pending,
  });
  const code = /<li><code>([^<]+)/.exec(withPasskey.text)?.[1] ?? "";
  expect(code).not.toBe("");
  const app = await send(browser, await browser.open(at("/factors")), { action: "new_app" });
  expect(app.text).toContain('<svg class="qr"');
  const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(app.text)?.[1] ?? "").replaceAll(" ", "");
  const added = await browser.submit(app, { action: "app", code: totpCode(secret, step() - 1) });
  expect(added.text).toContain("The factor was added.");

  const codes = [() => totpCode(secret, step()), () => code];
  for (const entered of codes) {
    const fresh = new Browser(iam.origin);
    const asked = await fresh.submit(await fresh.open(at()), LOGIN);
    expect((await fresh.submit(asked, { action: "code", code: entered() })).url).toBe(at());
  }
  const fresh = new Browser(iam.origin);
  const asked = await fresh.open(at());
  const used = passkey.use(passkeyOptions(asked));
  expect((await fresh.submit(asked, { action: "passkey", passkey: used })).url).toBe(at());
  const end = await fresh.open(`${iam.origin}/v1/iam/oidc/session/end`);
  expect((await fresh.submit(end, { logout: "yes" })).text).toContain("Logged out");
});

test("it stops without an error, and an operator works on its store [DEPLOY-9]", async () => {
  expect(await iam.stop(), iam.log).toBe(0);
  expect(iam.log).not.toContain('"level":"error"');
  const carol = [
    "user",
    "create",
    "carol",
    "--email",
    "carol@example.com",
    "--display-name",
    "Carol",
  ];
  const { status, stderr } = await iam.run(...carol, "--offline", iam.configuration);
  expect([status, stderr]).toEqual([0, expect.stringContaining("as operator")]);
});
