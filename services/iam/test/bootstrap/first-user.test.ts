/** The first owner of a zone with local users. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceDatabase } from "svc-access/database";
import { openAuditLog } from "svc-access/runtime";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { openPostgres, query } from "../../../../test/support/postgres.ts";
import { LocalAccounts } from "../../src/accounts/local-accounts.ts";
import { PasswordHasher } from "../../src/accounts/passwords/password-hasher.ts";
import { BootstrapLinks, LINK_LIFE_MS } from "../../src/bootstrap/bootstrap-links.ts";
import { FirstUser } from "../../src/bootstrap/first-user.ts";
import { makeLink } from "../../src/bootstrap/make-link.ts";
import { ZoneOwners } from "../../src/bootstrap/zone-owners.ts";
import type { LoadedIamConfig } from "../../src/config/load-iam-config.ts";
import type { BootstrapTables } from "../../src/store/bootstrap-tables.ts";
import type { IamTables } from "../../src/store/tables.ts";
import type { UserTables } from "../../src/store/user-tables.ts";
import { FIRST, linkOf, open, ownersOf, send } from "../support/bootstrap.ts";
import { asUser, type IamService, startIam } from "../support/iam-service.ts";

const databaseOf = (iam: IamService) => iam.options.database as ServiceDatabase<IamTables>;
const linksOf = (iam: IamService, now?: () => number) =>
  new BootstrapLinks(databaseOf(iam).as<BootstrapTables>().kysely, now);
const users = (iam: IamService) =>
  databaseOf(iam).kysely.selectFrom("iam_users").selectAll().execute();
const row = async (iam: IamService) =>
  databaseOf(iam).kysely.selectFrom("iam_bootstrap_links").selectAll().execute();

describe("a link that cannot be used", () => {
  let iam: IamService;
  beforeAll(async () => {
    iam = await startIam();
  });
  afterAll(() => iam.stop());

  const tokens: readonly [string, (token: string) => string][] = [
    ["without a token", () => ""],
    ["with an empty token", () => "token="],
    ["with another token", () => `token=${"A".repeat(43)}`],
    ["that was cut", (token) => `token=${token.slice(0, -1)}`],
    ["with a longer token", (token) => `token=${token}A`],
    ["with its token twice", (token) => `token=${token}&token=${token}`],
    ["with another token first", (token) => `token=${"A".repeat(43)}&token=${token}`],
    ["in another case", (token) => `token=${token.toUpperCase()}_`],
    ["with a token in SQL", (token) => `token=${encodeURIComponent(`${token}' or '1'='1`)}`],
    ["with NUL", (token) => `token=${token}%00`],
    ["with a very long token", () => `token=${"A".repeat(4000)}`],
    ["with HTML", () => `token=${encodeURIComponent("<script>alert(1)</script>")}`],
  ];
  test.each(tokens)("%s shows nothing, and makes nobody", async (_, queryOf) => {
    const { token } = await linkOf(iam);
    const given = queryOf(token);
    const page = await open(iam, `/v1/iam/ui/bootstrap?${given}`);
    const sent = await send(iam, `${given}&${new URLSearchParams({ ...FIRST })}`);
    for (const { status, text } of [page, sent]) {
      expect(status).toBe(404);
      expect(text).toContain("The link does not work");
      expect(text).not.toContain("<script");
      expect(text).not.toContain("<form");
    }
    expect(await ownersOf(iam)).toEqual([]);
    expect(await users(iam)).toEqual([]);
  });

  test("that is older than 30 minutes is the same", async () => {
    const { token } = await linksOf(iam, () => Date.now() - LINK_LIFE_MS).make("acme");
    expect((await open(iam, `/v1/iam/ui/bootstrap?token=${token}`)).status).toBe(404);
    expect((await send(iam, { ...FIRST, token })).status).toBe(404);
    const { token: last } = await linksOf(iam, () => Date.now() - LINK_LIFE_MS + 60_000).make(
      "acme",
    );
    expect((await open(iam, `/v1/iam/ui/bootstrap?token=${last}`)).status).toBe(200);
  });

  test("of another organization than that of the configuration is the same", async () => {
    const { token } = await linksOf(iam).make("other");
    expect((await open(iam, `/v1/iam/ui/bootstrap?token=${token}`)).status).toBe(404);
    expect((await send(iam, { ...FIRST, token })).status).toBe(404);
  });

  test.each<[string, number, Readonly<Record<string, string>>]>([
    ["another site", 403, { "sec-fetch-site": "cross-site" }],
    ["a sibling", 403, { "sec-fetch-site": "same-site" }],
    ["another origin", 403, { origin: "https://evil.example" }],
    ["JSON", 415, { "content-type": "application/json" }],
    ["text, as forms without a preflight can be", 415, { "content-type": "text/plain" }],
  ])("by a form of %s", async (_, status, headers) => {
    const { token } = await linkOf(iam);
    expect((await send(iam, { ...FIRST, token }, headers)).status).toBe(status);
    expect(await users(iam)).toEqual([]);
  });

  test("by a form that is too large", async () => {
    const { token } = await linkOf(iam);
    const sent = await send(iam, { ...FIRST, token, more: "x".repeat(16 * 1024) });
    expect(sent.status).toBe(413);
  });

  test("by another method or path", async () => {
    const { path, token } = await linkOf(iam);
    expect((await open(iam, path, { method: "PUT" })).status).toBe(405);
    for (const below of ["callback", "x", "%2e%2e"]) {
      const { status } = await open(iam, `/v1/iam/ui/bootstrap/${below}?token=${token}`);
      expect(status).toBe(404);
    }
  });

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ["without a user name", { username: "" }, "The user name is required."],
    ["with a user name with spaces", { username: "a b" }, "The user name must consist of"],
    ["with HTML as the user name", { username: `"><script>x</script>` }, "The user name must"],
    ["with control characters in the name", { display_name: "a\u0000b" }, "The name must not"],
    ["without an e-mail address", { email: "" }, "The e-mail address is required."],
    ["with a wrong e-mail address", { email: "root@" }, "The e-mail address is not a valid"],
    ["with a short password", { password: "short", repeated: "short" }, "The password must have"],
    [
      "with a common password",
      { password: "password123456", repeated: "password123456" },
      "The password",
    ],
    ["with two passwords", { repeated: "correct horse battery stable" }, "The second password"],
    ["with nothing", Object.fromEntries(Object.keys(FIRST).map((name) => [name, ""])), "required"],
  ])("as long as it comes %s", async (_, change, problem) => {
    const { token } = await linkOf(iam);
    const fields = { ...FIRST, display_name: `<b id="x">Ruth</b>`, ...change };
    const { status, text } = await send(iam, { ...fields, token });
    expect(status).toBe(400);
    expect(text).toContain(problem);
    expect(text).not.toMatch(/<script>|<b id/);
    if (fields.display_name !== "" && !("display_name" in change)) {
      expect(text).toContain("&lt;b id=&quot;x&quot;&gt;Ruth&lt;/b&gt;");
    }
    for (const secret of [FIRST["password"], change["password"]]) {
      if (secret !== undefined && secret !== "") expect(text).not.toContain(secret);
    }
    expect(await ownersOf(iam)).toEqual([]);
    expect(await users(iam)).toEqual([]);
    // It still works.
    expect((await open(iam, `/v1/iam/ui/bootstrap?token=${token}`)).status).toBe(200);
  });
});

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

test("guessing is slowed by address", async () => {
  const iam = await startIam();
  const statuses = new Set<number>();
  for (let count = 0; count < 30; count++) {
    const headers = { "x-forwarded-for": "203.0.113.9" };
    const { status } = await open(iam, "/v1/iam/ui/bootstrap?token=x", { headers });
    statuses.add(status);
  }
  await iam.stop();
  expect([...statuses].sort()).toEqual([404, 429]);
});

describe.each(KINDS)("a link, in %s", (_, newDatabase) => {
  let iam: IamService;
  const start = async () => {
    iam = await startIam({ database: await newDatabase() });
    return iam;
  };
  afterEach(() => iam.stop());

  test("makes the first user, who owns the zone, and works once", async () => {
    await start();
    const { path, token } = await linkOf(iam);
    const page = await open(iam, path);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toBe(
      "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.text).toContain(`<input type="hidden" name="token" value="${token}">`);
    // Opening it changes nothing.
    expect(await ownersOf(iam)).toEqual([]);
    // As browsers send it from a page without referrer.
    const headers = { origin: "null", "sec-fetch-site": "same-origin" };
    const done = await send(iam, { ...FIRST, token }, headers);
    expect(done.status, done.text).toBe(200);
    const [user, ...others] = await users(iam);
    expect(others).toEqual([]);
    expect(user).toMatchObject({ username: "root", display_name: "Ruth Root" });
    const id = user?.id ?? "";
    expect(await ownersOf(iam)).toEqual([`user:${id}`]);
    const listed = await iam.call("GET", "/v1/users", undefined, asUser(id));
    expect(listed.body.users).toHaveLength(1);
    expect((await open(iam, path)).status).toBe(404);
    expect((await send(iam, { ...FIRST, username: "other", token })).status).toBe(404);
    expect(await makeLink(iam.options.configuration as LoadedIamConfig, "acme")).toBeUndefined();
  });

  test("is dead once the zone has an owner, and its pages say so", async () => {
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

  test("of several that are used at once makes one owner", async () => {
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

  test("goes on if the process ended between owner and user", async () => {
    await start();
    const { path, token } = await linkOf(iam);
    const database = databaseOf(iam);
    const crash = vi.spyOn(database, "inTransaction").mockRejectedValueOnce(new Error("killed"));
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

  test("is completed by the job, also after its time", async () => {
    await start();
    const database = databaseOf(iam);
    const links = linksOf(iam);
    const engine = iam.options.engine as NonNullable<typeof iam.options.engine>;
    const owners = new ZoneOwners(engine);
    const accounts = new LocalAccounts(database.as<UserTables>().kysely, "acme");
    const hasher = new PasswordHasher();
    const record = vi.fn(async () => {});
    const job = new FirstUser({ database, links, owners, accounts, hasher, recorder: { record } });
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

test("neither audit nor database has the token or the password of a link", async () => {
  const iam = await startIam();
  const { token } = await linkOf(iam);
  await send(iam, { ...FIRST, password: "short", token });
  expect((await send(iam, { ...FIRST, token })).status).toBe(200);
  await iam.stop();
  const log = await openAuditLog(iam.options.configuration);
  const { events } = await log.list({ resource: "zone:acme" });
  await log.close();
  const seen = events.map(({ type, data }) => [
    type,
    data.risk_level,
    Object.keys(data.details ?? {}),
  ]);
  expect(seen).toEqual([
    ["bootstrap.used", "CRITICAL", ["owner"]],
    ["bootstrap.link_made", "CRITICAL", ["expires"]],
  ]);
  const files = readdirSync(iam.folder).map((name) => readFileSync(join(iam.folder, name)));
  const kept = Buffer.concat(files).toString("latin1");
  expect(kept).toContain("bootstrap.used");
  expect(kept).not.toContain(token);
  expect(kept).not.toContain(FIRST["password"]);
});
