/** Links for the first owner that make nobody the owner. */
import type { ServiceDatabase } from "svc-access/database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BootstrapLinks, LINK_LIFE_MS } from "../../src/bootstrap/bootstrap-links.ts";
import type { BootstrapTables } from "../../src/ground/store/bootstrap-tables.ts";
import type { IamTables } from "../../src/ground/store/tables.ts";
import { FIRST, linkOf, open, ownersOf, send } from "../support/bootstrap.ts";
import { type IamService, startIam } from "../support/iam-service.ts";

const databaseOf = (iam: IamService) => iam.options.database as ServiceDatabase<IamTables>;
const linksOf = (iam: IamService, now?: () => number) =>
  new BootstrapLinks(databaseOf(iam).as<BootstrapTables>().kysely, now);
const users = (iam: IamService) =>
  databaseOf(iam).kysely.selectFrom("iam_users").selectAll().execute();

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

  test("that is older than 30 minutes is the same [IDP-8]", async () => {
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
