/** The first owner of a zone with local users. */

import type { ServiceDatabase } from "svc-access/database";
import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openPostgres, query } from "../../../../test/support/postgres.ts";
import { BootstrapLinks, LINK_LIFE_MS } from "../../src/bootstrap/bootstrap-links.ts";
import { FirstUser } from "../../src/bootstrap/first-user.ts";
import { makeLink } from "../../src/bootstrap/make-link.ts";
import { UsedLinks } from "../../src/bootstrap/used-links.ts";
import { ZoneOwners } from "../../src/bootstrap/zone-owners.ts";
import type { LoadedIamConfig } from "../../src/config/load-iam-config.ts";
import type { BootstrapTables } from "../../src/ground/store/bootstrap-tables.ts";
import type { IamTables } from "../../src/ground/store/tables.ts";
import type { UserTables } from "../../src/ground/store/user-tables.ts";
import { STYLE_SOURCE } from "../../src/pages/style-sheet.ts";
import { LocalAccounts } from "../../src/people/accounts/local-accounts.ts";
import {
  FIRST,
  holdBootstrapJob,
  linkOf,
  open,
  ownersOf,
  recordedOwners,
  runBootstrapJob,
  send,
  withoutAudit,
} from "../support/bootstrap.ts";
import { everythingStored } from "../support/everything-stored.ts";
import { serviceHasher } from "../support/hash-cost.ts";
import { asUser, auditEvents, type IamService, startIam } from "../support/iam-service.ts";

const databaseOf = (iam: IamService) => iam.options.database as ServiceDatabase<IamTables>;
const linksOf = (iam: IamService, now?: () => number) =>
  new BootstrapLinks(databaseOf(iam).as<BootstrapTables>().kysely, now);
const users = (iam: IamService) =>
  databaseOf(iam).kysely.selectFrom("iam_users").selectAll().execute();
const row = async (iam: IamService) =>
  databaseOf(iam).kysely.selectFrom("iam_bootstrap_links").selectAll().execute();

const postgres = await openPostgres();
afterAll(() => postgres?.remove());
const KINDS = [
  ["SQLite", async () => ({})],
  ...(postgres === undefined
    ? []
    : [
        [
          "PostgreSQL",
          async () => {
            const name = `bootstrap_${Math.random().toString(36).slice(2)}`;
            await query(postgres.url, `create database ${name}`);
            const url = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
            return { driver: "postgres", url, file: undefined };
          },
        ] as const,
      ]),
] as const;
if (postgres === undefined) {
  test.skipIf(process.env["CI"] !== "true")("PostgreSQL is installed", () => expect.fail());
}

describe.each(KINDS)("a link, in %s", (_, newDatabase) => {
  let iam: IamService;
  const start = async () => {
    iam = await startIam({ database: await newDatabase() });
    return iam;
  };
  afterEach(() => iam.stop());

  test("makes the first user, who owns the zone, and works once [IDP-8]", async () => {
    await start();
    const { path, token } = await linkOf(iam);
    const page = await open(iam, path);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src ${STYLE_SOURCE}; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    );
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.text).toContain(`<input type="hidden" name="token" value="${token}">`);
    // Opening it changes nothing.
    expect(await ownersOf(iam)).toEqual([]);
    // As browsers send it from a page without referrer.
    const headers = { origin: "null", "sec-fetch-site": "same-origin" };
    // As keyboards of phones complete words.
    const spaced = {
      username: `${FIRST["username"]} `,
      display_name: ` ${FIRST["display_name"]} `,
    };
    const done = await send(iam, { ...FIRST, ...spaced, token }, headers);
    expect(done.status, done.text).toBe(200);
    const [user, ...others] = await users(iam);
    expect(others).toEqual([]);
    expect(user).toMatchObject({ username: "root", display_name: "Ruth Root" });
    const id = user?.id ?? "";
    expect(await ownersOf(iam)).toEqual([`user:${id}`]);
    const listed = await iam.call("GET", "/v1/users", undefined, asUser(id));
    expect(listed.body.users).toHaveLength(1);
    const used = await open(iam, path);
    expect([used.status, used.text]).toEqual([
      409,
      expect.stringContaining("already has an owner"),
    ]);
    expect(used.text).toContain('<a class="button" href="/v1/iam/oidc/account">Log in</a>');
    expect((await send(iam, { ...FIRST, username: "other", token })).status).toBe(409);
    // Who has no genuine link hears of no owner.
    const unknown = await open(iam, path.replace(token, "A".repeat(43)));
    expect([unknown.status, unknown.text]).toEqual([404, expect.not.stringContaining("acme")]);
    expect(await makeLink(iam.options.configuration as LoadedIamConfig, "acme")).toBeUndefined();
  });

  test("is dead once the zone has an owner, and its pages say so [IDP-8]", async () => {
    await start();
    const [first, second] = [await linkOf(iam), await linkOf(iam)];
    expect((await send(iam, { ...FIRST, token: first.token })).status).toBe(200);
    const page = await open(iam, second.path);
    expect([page.status, page.text]).toEqual([
      409,
      expect.stringContaining("already has an owner"),
    ]);
    const sent = await send(iam, { ...FIRST, username: "other", token: second.token });
    expect(sent.status).toBe(409);
    expect(await users(iam)).toHaveLength(1);
  });

  test("of several that are used at once makes one owner [IDP-8]", async () => {
    await start();
    const links = await Promise.all(Array.from({ length: 5 }, () => linkOf(iam)));
    const sent = await Promise.all(
      links.map(({ token }, index) => send(iam, { ...FIRST, username: `root${index}`, token })),
    );
    expect(sent.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    const [user, ...others] = await users(iam);
    expect(others).toEqual([]);
    expect(await ownersOf(iam)).toEqual([`user:${user?.id}`]);
    expect((await row(iam)).filter(({ pending }) => pending !== null)).toEqual([]);
  });

  test("that is sent several times at once makes one user", async () => {
    await start();
    const { token } = await linkOf(iam);
    const sent = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        send(iam, { ...FIRST, username: `root${index}`, token }),
      ),
    );
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status } of sent) expect([200, 404, 409]).toContain(status);
    const [user, ...others] = await users(iam);
    expect(others).toEqual([]);
    expect(await ownersOf(iam)).toEqual([`user:${user?.id}`]);
  });

  test("whose form is sent several times at once shows the user each time", async () => {
    await start();
    const { token } = await linkOf(iam);
    const sent = await Promise.all([1, 2, 3].map(() => send(iam, { ...FIRST, token })));
    const statuses = sent.map(({ status }) => status);
    // One that arrives after the user was made finds no link.
    expect(statuses.every((status) => [200, 404, 409].includes(status))).toBe(true);
    expect(statuses).toContain(200);
    expect(await users(iam)).toHaveLength(1);
    expect(await auditEvents(iam, { type: "bootstrap.used" })).toHaveLength(1);
  });

  test("whose form is checked while the same form makes the user shows the user", async () => {
    await start();
    const { token } = await linkOf(iam);
    const { findForLogin } = LocalAccounts.prototype;
    let first: number | undefined;
    const find = vi.spyOn(LocalAccounts.prototype, "findForLogin");
    onTestFinished(() => find.mockRestore());
    find.mockImplementationOnce(async function (this: LocalAccounts, ...args) {
      first = (await send(iam, { ...FIRST, token })).status;
      return findForLogin.apply(this, args);
    });
    const second = await send(iam, { ...FIRST, token });
    expect([first, second.status]).toEqual([200, 200]);
    expect(second.text.replaceAll(/<[^>]*>/g, "")).toContain("root owns acme");
  });

  test("shows no user before it is the owner, and works again after a failure", async () => {
    await start();
    const { path, token } = await linkOf(iam);
    const engine = iam.options.engine as NonNullable<typeof iam.options.engine>;
    const write = vi.spyOn(engine, "writeRelationships").mockImplementationOnce(async () => {
      expect(await users(iam)).toEqual([]);
      throw Object.assign(new (await import("svc-access/authz")).AuthzError("UNAVAILABLE", "down"));
    });
    const failed = await send(iam, { ...FIRST, token });
    expect(write).toHaveBeenCalledOnce();
    expect(failed.status).toBe(503);
    expect(failed.headers.get("retry-after")).toBe("5");
    expect(await users(iam)).toEqual([]);
    // The form has what was entered, but the password.
    const again = await open(iam, path);
    expect(again.text).toContain('value="Ruth Root"');
    expect(again.text).not.toContain("argon2");
    expect((await send(iam, { ...FIRST, token })).status).toBe(200);
  });

  test("continues if the process ended between owner and user", async () => {
    await start();
    const { path, token } = await linkOf(iam);
    const database = databaseOf(iam);
    // The job would complete the user, too.
    const job = vi.spyOn(BootstrapLinks.prototype, "begun").mockResolvedValue([]);
    onTestFinished(() => job.mockRestore());
    const crash = vi.spyOn(database, "inTransaction").mockRejectedValue(new Error("killed"));
    expect((await send(iam, { ...FIRST, token })).status).toBe(500);
    crash.mockRestore();
    expect(await ownersOf(iam)).toHaveLength(1);
    expect(await users(iam)).toEqual([]);
    expect((await open(iam, path)).status).toBe(200);
    expect((await send(iam, { ...FIRST, username: "ruth", token })).status).toBe(200);
    const [user] = await users(iam);
    expect(user?.username).toBe("ruth");
    expect(await ownersOf(iam)).toEqual([`user:${user?.id}`]);
  });

  test("makes no user while its use cannot be recorded, and works again then", async () => {
    await start();
    holdBootstrapJob();
    const { token } = await linkOf(iam);
    const failed = await withoutAudit(iam, () => send(iam, { ...FIRST, token }));
    expect(failed.status, failed.text).toBe(503);
    expect(await users(iam)).toEqual([]);
    expect((await send(iam, { ...FIRST, token })).status).toBe(200);
    const [user] = await users(iam);
    expect(await ownersOf(iam)).toEqual([`user:${user?.id}`]);
    expect(await recordedOwners(iam)).toEqual([`user:${user?.id}`]);
  });

  test.each<[string, (token: string) => Promise<unknown>]>([
    ["again", (token) => send(iam, { ...FIRST, token })],
    ["by the job", () => runBootstrapJob(iam)],
  ])("is recorded %s if the process ended between owner and event", async (_, retry) => {
    await start();
    const job = holdBootstrapJob();
    const { token } = await linkOf(iam);
    const crash = vi.spyOn(UsedLinks.prototype, "record").mockRejectedValue(new Error("killed"));
    onTestFinished(() => crash.mockRestore());
    expect((await send(iam, { ...FIRST, token })).status).toBe(500);
    crash.mockRestore();
    expect(await recordedOwners(iam)).toEqual([]);
    expect(await ownersOf(iam)).toHaveLength(1);
    job.release();
    await retry(token);
    expect(await users(iam)).toHaveLength(1);
    expect(await recordedOwners(iam)).toEqual(await ownersOf(iam));
  });

  test("whose user cannot be made is recorded once by the job", async () => {
    await start();
    const job = holdBootstrapJob();
    const { token } = await linkOf(iam);
    const crash = vi.spyOn(databaseOf(iam), "inTransaction");
    crash.mockRejectedValue(new Error("killed"));
    expect((await send(iam, { ...FIRST, token })).status).toBe(500);
    crash.mockRestore();
    const accounts = new LocalAccounts(databaseOf(iam).as<UserTables>().kysely, "acme");
    const other = { username: "root", displayName: "Other", email: "o@example.com" };
    await accounts.create({ ...other, passwordHash: "none" });
    job.release();
    await runBootstrapJob(iam);
    await runBootstrapJob(iam);
    expect(await recordedOwners(iam)).toEqual(await ownersOf(iam));
    // With another name, the link makes the user.
    expect((await send(iam, { ...FIRST, username: "ruth", token })).status).toBe(200);
    expect((await users(iam)).map(({ username }) => username).sort()).toEqual(["root", "ruth"]);
  });

  test("is completed by the job, also after its time", async () => {
    await start();
    const database = databaseOf(iam);
    const links = linksOf(iam);
    const engine = iam.options.engine as NonNullable<typeof iam.options.engine>;
    const owners = new ZoneOwners(engine);
    const accounts = new LocalAccounts(database.as<UserTables>().kysely, "acme");
    const hasher = serviceHasher;
    const record = vi.fn(async () => {});
    const used = new UsedLinks();
    const recorder = { record };
    const job = new FirstUser({ database, links, owners, used, accounts, hasher, recorder });
    const signal = new AbortController().signal;
    const { token } = await linkOf(iam);
    const { token: idle } = await linkOf(iam);
    const [begun, abandoned] = [await links.find(token), await links.find(idle)];
    if (begun === undefined || abandoned === undefined) return expect.fail();
    const account = { username: "root", displayName: "Ruth", email: "r@example.com" };
    await links.begin(begun, { ...account, passwordHash: "$argon2id$v=19$hash" });
    await links.begin(abandoned, { ...account, passwordHash: "$argon2id$v=19$other" });
    await job.resume(signal);
    // Nobody owns the zone yet.
    expect(await users(iam)).toEqual([]);
    await owners.makeFirstOwner("acme", begun.accountId, signal);
    const later = Date.now() + 2 * LINK_LIFE_MS;
    await job.resume(signal, later);
    expect((await users(iam)).map(({ id, username }) => [id, username])).toEqual([
      [begun.accountId, "root"],
    ]);
    await job.resume(signal, later);
    expect(record.mock.calls).toEqual([
      [expect.objectContaining({ event: "bootstrap.used", resource: "zone:acme" })],
    ]);
    expect(await row(iam)).toMatchObject([{ pending: null }, { pending: null }]);
    await linksOf(iam, () => later).removeExpired();
    expect(await row(iam)).toEqual([]);
  });
});

test("neither audit nor database has the token or the password of a link [IDP-8, IDP-23]", async () => {
  const iam = await startIam();
  const { token } = await linkOf(iam);
  await send(iam, { ...FIRST, password: "short", token });
  expect((await send(iam, { ...FIRST, token })).status).toBe(200);
  await iam.stop();
  const events = await auditEvents(iam, { resource: "zone:acme" });
  const seen = events.map(({ type, data }) => [
    type,
    data.risk_level,
    Object.keys(data.details ?? {}),
  ]);
  expect(seen).toEqual([
    ["bootstrap.used", "CRITICAL", ["owner"]],
    ["bootstrap.link_made", "CRITICAL", ["expires"]],
  ]);
  const kept = await everythingStored(iam);
  expect(kept).toContain("bootstrap.used");
  expect(kept).not.toContain(token);
  expect(kept).not.toContain(FIRST["password"]);
});
