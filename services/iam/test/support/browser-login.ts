import type { ServiceDatabase } from "svc-access/database";
import type { IamTables } from "../../src/ground/store/tables.ts";
import { LocalAccounts } from "../../src/people/accounts/local-accounts.ts";
import { Browser, type Visit } from "./browser.ts";
import { serviceHasher } from "./hash-cost.ts";
import { type IamService, type IamServiceOptions, startIam } from "./iam-service.ts";
import { PASSWORD } from "./memory-accounts.ts";

export const SESSION = "__Host-iam_login";
/** A path of no handler: where it is reached, the login has led there. */
export const RETURN = "/skills?q=1";

/** A whole service that logs browsers in by itself, with the users alice and bob. */
export async function startSelf(options: IamServiceOptions = {}): Promise<IamService> {
  const service = await startIam({
    ...options,
    iam: { browser_login: "self", ...options.iam },
    authn: { mode: "idp_jwt", ...options.authn },
  });
  if (options.authn?.["provider"] === undefined) {
    for (const username of ["alice", "bob"]) await addUser(service, username);
  }
  return service;
}

export function databaseOf(service: IamService): ServiceDatabase<IamTables> {
  return service.options.database as ServiceDatabase<IamTables>;
}

export async function addUser(service: IamService, username: string): Promise<void> {
  const accounts = new LocalAccounts(databaseOf(service).kysely, "acme");
  const passwordHash = await serviceHasher.hash(PASSWORD);
  const email = `${username}@example.com`;
  await accounts.create({ username, displayName: username, email, passwordHash });
}

/** The id of a user. */
export async function userId(service: IamService, username: string): Promise<string> {
  const { id } = await databaseOf(service)
    .kysely.selectFrom("iam_users")
    .select("id")
    .where("username", "=", username)
    .executeTakeFirstOrThrow();
  return id;
}

/** Enters the password of alice, and stops before the callback. */
export async function untilCallback(
  service: Pick<IamService, "origin">,
  browser: Browser,
  change: (authorization: URL) => void = () => undefined,
): Promise<URL> {
  const query = new URLSearchParams({ return_to: RETURN });
  const begun = await browser.request(`${service.origin}/v1/iam/ui/login?${query}`);
  const authorization = new URL(begun.headers.get("location") ?? "");
  change(authorization);
  const page = await browser.open(authorization.href);
  const form = { action: "login", username: "alice", password: PASSWORD };
  const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const body = new URLSearchParams(form);
  for (const [, name = "", value = ""] of hidden) body.set(name, value);
  let response = await browser.request(page.url, { method: "POST", body });
  for (;;) {
    const target = response.headers.get("location");
    if (target === null) {
      throw new Error(`the login leads nowhere: ${response.status} ${await response.text()}`);
    }
    const location = new URL(target, service.origin);
    if (location.pathname === "/v1/iam/oauth2/callback") return location;
    response = await browser.request(location.href);
  }
}

/** Logs somebody in, and returns where that leads. */
export async function logInBrowser(
  service: Pick<IamService, "origin">,
  browser: Browser,
  { username = "alice", returnTo = RETURN } = {},
): Promise<Visit> {
  const query = new URLSearchParams({ return_to: returnTo });
  const page = await browser.open(`${service.origin}/v1/iam/ui/login?${query}`);
  if (!page.text.includes('name="password"')) return page;
  return browser.submit(page, { action: "login", username, password: PASSWORD });
}

/** A browser in which alice, or somebody else, is logged in. */
export async function loggedIn(service: IamService, username = "alice"): Promise<Browser> {
  const browser = new Browser(service.origin);
  await logInBrowser(service, browser, { username });
  return browser;
}

/** Who the service says a browser is: the user name, or the status of the refusal. */
export async function whoIs(
  service: IamService,
  browser: Browser,
  headers: Record<string, string> = {},
): Promise<string | number> {
  const response = await browser.request(`${service.origin}/v1/iam/me`, { headers });
  const { username = "" } = (await response.json()) as { readonly username?: string };
  return response.status === 200 ? username : response.status;
}
