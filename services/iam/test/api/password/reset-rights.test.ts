/** A link for a new password works as long as its maker may still make it. */
import { randomUUID } from "node:crypto";
import { AuthzError } from "svc-access/authz";
import type { AuditEvent } from "svc-access/runtime";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openPostgres, query } from "../../../../../test/support/postgres.ts";
import { PageDesign } from "../../../src/pages/page-design.ts";
import { PasswordHasher } from "../../../src/people/accounts/passwords/password-hasher.ts";
import { databaseOf } from "../../support/browser-login.ts";
import { asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { canLogIn, NEW, newBrowser, OLD, relate, startUsers } from "../../support/passwords.ts";

/** A link that `manager` has made for `user`, who are of one test each. */
interface Made {
  readonly iam: IamService;
  readonly url: string;
  readonly manager: string;
  readonly user: string;
}
type Change = (made: Made) => Promise<unknown>;

const PASSWORDS = { password: NEW, repeated: NEW };
const AUDITORS = { type: "group", id: "auditors" } as const;

const joinAuditors: Change = async ({ iam, user }) => {
  const subjects = [
    [{ type: "zone", id: "acme" }, "permission_admin", { ...AUDITORS, relation: "member" }],
    [AUDITORS, "member", { type: "user", id: user }],
  ] as const;
  const updates = subjects.map(([resource, relation, subject]) => ({
    operation: "TOUCH" as const,
    relationship: { resource, relation, subject },
  }));
  await iam.options.engine?.writeRelationships({ updates });
};

const setUser =
  (values: { readonly disabled?: number; readonly deleted_time?: number }): Change =>
  ({ iam, manager }) =>
    databaseOf(iam).kysely.updateTable("iam_users").set(values).where("id", "=", manager).execute();
const setMaker =
  (values: { readonly maker_type?: string | null; readonly maker_id?: string | null }): Change =>
  ({ iam, user }) =>
    databaseOf(iam)
      .kysely.updateTable("iam_password_reset_links")
      .set(values)
      .where("account_id", "=", user)
      .execute();

/** What ends a link. */
const ENDS: readonly [string, Change][] = [
  ["whose user is an owner by now", ({ iam, user }) => relate(iam, "owner", user)],
  ["whose user is in a group that may do more by now", joinAuditors],
  [
    "whose maker lost manage_users",
    ({ iam, manager }) => relate(iam, "user_manager", manager, "DELETE"),
  ],
  [
    "whose maker lost manage_users, and kept another relation",
    async ({ iam, manager }) => {
      await relate(iam, "user_viewer", manager);
      await relate(iam, "user_manager", manager, "DELETE");
    },
  ],
  ["whose maker is disabled", setUser({ disabled: 1 })],
  ["whose maker is marked deleted", setUser({ deleted_time: 1 })],
  [
    "whose maker is deleted",
    ({ iam, manager }) =>
      databaseOf(iam).kysely.deleteFrom("iam_users").where("id", "=", manager).execute(),
  ],
  ["that was made before makers were stored", setMaker({ maker_type: null, maker_id: null })],
  ["of a service with the id of an owner", setMaker({ maker_type: "service", maker_id: "root" })],
  [
    "of a service account with the id of an owner",
    setMaker({ maker_type: "service_account", maker_id: "root" }),
  ],
];

const REMAINS: readonly [string, Change][] = [
  ["if nothing has changed", async () => undefined],
  ["whose user has what the maker has", ({ iam, user }) => relate(iam, "user_manager", user)],
  [
    "whose user and maker are owners by now",
    async ({ iam, manager, user }) => {
      await relate(iam, "owner", manager);
      await relate(iam, "owner", user);
    },
  ],
  [
    "whose maker may manage users by another relation",
    async ({ iam, manager }) => {
      await relate(iam, "admin", manager);
      await relate(iam, "user_manager", manager, "DELETE");
    },
  ],
];

const server = await openPostgres();
if (server === undefined) test.skip("PostgreSQL is not installed", () => undefined);
afterAll(() => server?.remove());

const databases: [string, () => Promise<Readonly<Record<string, unknown>>>][] = [
  ["SQLite", async () => ({})],
];
if (server !== undefined) {
  databases.push([
    "PostgreSQL",
    async () => {
      const name = `iam_${randomUUID().replaceAll("-", "")}`;
      await query(server.url, `create database ${name}`);
      const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
      return { driver: "postgres", file: undefined, url };
    },
  ]);
}

/** A page without the id of its request, the only part that differs. */
const withoutRequest = (text: string) => text.replace(/<code>[0-9a-f-]{36}<\/code>/, "");

describe.each(databases)("a link in %s", (_, database) => {
  let iam: IamService;
  let users: Record<string, string>;
  let count = 0;
  beforeAll(async () => {
    iam = await startIam({ database: await database(), logLevel: "silent" });
    const numbers = [...ENDS, ...REMAINS, "hashed", "down"].map((_, index) => index + 1);
    users = await startUsers(
      iam,
      numbers.flatMap((number) => [`manager${number}`, `user${number}`]),
    );
  });
  afterAll(() => iam.stop());

  /** The link, and a browser in which its form is open; the user's name is the last one. */
  async function make() {
    const username = `user${++count}`;
    const [manager = "", user = ""] = [users[`manager${count}`], users[username]];
    await relate(iam, "user_manager", manager);
    const path = `/v1/users/${user}/password-reset-links`;
    const { status, body } = await iam.call("POST", path, {}, asUser(manager));
    expect(status, JSON.stringify(body)).toBe(200);
    const url: string = body.url;
    const browser = newBrowser(iam);
    const form = await browser.open(url);
    expect(form.status).toBe(200);
    return { iam, url, manager, user, username, browser, form };
  }
  type Opened = Awaited<ReturnType<typeof make>>;

  const send = ({ browser, form }: Opened) => browser.submit(form, PASSWORDS);

  async function failures({ user }: Made): Promise<unknown[]> {
    const found: AuditEvent[] = [];
    for await (const event of iam.server.audit?.export({}) ?? []) found.push(event);
    return found
      .filter(({ type, subject }) => type === "password.reset_failed" && subject === `user:${user}`)
      .map(({ data }) => data.details?.["reason"]);
  }

  test.each(ENDS)("%s does not work any more [IDP-29, IDP-30, IAM-9]", async (_, change) => {
    const made = await make();
    await change(made);
    const unknown = await newBrowser(iam).open(made.url.replace(/=.*/, `=${"A".repeat(43)}`));
    const opened = await newBrowser(iam).open(made.url);
    const sent = await send(made);
    for (const { status, text } of [opened, sent]) {
      expect([status, withoutRequest(text)]).toEqual([404, withoutRequest(unknown.text)]);
    }
    expect(await failures(made)).toEqual(["rights", "rights"]);
    expect(await canLogIn(iam, made.username, NEW)).toBe(false);
    expect(await canLogIn(iam, made.username, OLD)).toBe(true);
  });

  test.each(REMAINS)("%s works [IDP-29]", async (_, change) => {
    const made = await make();
    await change(made);
    expect((await newBrowser(iam).open(made.url)).status).toBe(200);
    expect((await send(made)).status).toBe(200);
    expect(await canLogIn(iam, made.username, NEW)).toBe(true);
  });

  test("whose user becomes an owner while the password is hashed does not work any more [IDP-29]", async () => {
    const made = await make();
    const hash = vi.spyOn(PasswordHasher.prototype, "hash").mockImplementationOnce(async () => {
      await relate(iam, "owner", made.user);
      return "a hash";
    });
    expect((await send(made)).status).toBe(404);
    expect(hash).toHaveBeenCalledOnce();
    hash.mockRestore();
    expect(await failures(made)).toEqual(["rights"]);
    expect(await canLogIn(iam, made.username, OLD)).toBe(true);
  });

  test("waits while authorization is unavailable [IDP-29]", async () => {
    const made = await make();
    const engine = iam.options.engine as NonNullable<typeof iam.options.engine>;
    const down = new AuthzError("UNAVAILABLE", "the engine is down");
    for (const method of ["readRelationships", "checkBulk"] as const) {
      const failing = vi.spyOn(engine, method).mockRejectedValue(down);
      const personal = vi.spyOn(PageDesign.prototype, "personalView");
      const opened = await newBrowser(iam).open(made.url);
      const sent = await send(made);
      // The look of the page waits for no dependency.
      expect(personal).not.toHaveBeenCalled();
      personal.mockRestore();
      failing.mockRestore();
      for (const { status, text } of [opened, sent]) {
        expect([status, text]).toEqual([503, expect.stringContaining("Try again")]);
      }
    }
    expect(await failures(made)).toEqual([]);
    expect(await canLogIn(iam, made.username, OLD)).toBe(true);
    expect((await send(made)).status).toBe(200);
    expect(await canLogIn(iam, made.username, NEW)).toBe(true);
  });
});
