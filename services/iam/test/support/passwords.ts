import { expect } from "vitest";
import { LocalAccounts } from "../../src/people/accounts/local-accounts.ts";
import { Browser, fieldOf, nextAddress, type Visit } from "./browser.ts";
import { databaseOf } from "./browser-login.ts";
import { serviceHasher } from "./hash-cost.ts";
import { asUser, type IamService } from "./iam-service.ts";
import { LoginRefused, logInAt } from "./log-in-at.ts";

/** The password of all users that a test makes. */
export const OLD = "correct horse battery staple";
/** Another one. */
export const NEW = "eleven purple walruses sing";

/** Who makes links in tests. */
export const ROOT = { subjectType: "user", subjectId: "root" } as const;

/** Makes the user `root`, who owns the zone, and users; returns the ids of these by their names. */
export async function startUsers(
  iam: IamService,
  names: readonly string[],
): Promise<Record<string, string>> {
  await addOwner(iam, ROOT.subjectId);
  const accounts = new LocalAccounts(databaseOf(iam).kysely, "acme");
  const passwordHash = await serviceHasher.hash(OLD);
  const users: Record<string, string> = {};
  for (const username of names) {
    const user = { username, displayName: username, email: `${username}@example.com` };
    const account = await accounts.create({ ...user, passwordHash });
    users[username] = account?.id ?? expect.fail(`${username} is taken`);
  }
  return users;
}

/** Makes a user who owns the zone, and does not log in. */
async function addOwner(iam: IamService, id: string): Promise<void> {
  const accounts = new LocalAccounts(databaseOf(iam).kysely, "acme");
  const user = { username: id, displayName: id, email: `${id}@example.com`, passwordHash: "none" };
  await accounts.create(user, id);
  await relate(iam, "owner", id);
}

/** Gives a user a relation to the zone `acme`, or takes it away. */
export async function relate(
  iam: IamService,
  relation: string,
  id: string,
  operation: "TOUCH" | "DELETE" = "TOUCH",
): Promise<void> {
  const resource = { type: "zone", id: "acme" };
  const relationship = { resource, relation, subject: { type: "user", id } };
  await iam.options.engine?.writeRelationships({ updates: [{ operation, relationship }] });
}

/** A browser at an address of its own: pages are limited by address. */
export function newBrowser({ origin }: Pick<IamService, "origin">): Browser {
  return new Browser(origin, nextAddress());
}

/** Whether a user can log in with a password. */
export async function canLogIn(
  iam: IamService,
  username: string,
  password: string,
): Promise<boolean> {
  return logInAt(iam, username, password).then(
    () => true,
    (error: unknown) => {
      if (error instanceof LoginRefused) return false;
      throw error;
    },
  );
}

let owners = 0;

/** Makes a link for a new password, each time as another owner of the zone: they are limited by caller. */
export async function resetLinkOf(iam: IamService, userId: string) {
  const owner = `owner-${++owners}`;
  await addOwner(iam, owner);
  const path = `/v1/users/${userId}/password-reset-links`;
  const { status, body } = await iam.call("POST", path, {}, asUser(owner));
  expect(status, JSON.stringify(body)).toBe(200);
  const url = new URL(body.url);
  return { url: url.href, token: url.searchParams.get("token") ?? "", expireTime: body.expireTime };
}

/** Opens a link as a browser does, and sends its form. */
export async function sendReset(
  browser: Browser,
  url: string,
  fields: Readonly<Record<string, string>> = {},
  init: RequestInit = {},
): Promise<Visit> {
  const page = await browser.open(url);
  expect(page.status, page.text).toBe(200);
  expect(fieldOf(page, "form_token")).not.toBe("");
  return browser.submit(page, { password: NEW, repeated: NEW, ...fields }, init);
}
