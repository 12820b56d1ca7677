/** The first user in a database that belongs to another organization, and links that fail beside others. */
import { beforeEach, expect, test, vi } from "vitest";
import { refuseOtherOrganization } from "../../src/api/organizations/refuse-other-organization.ts";
import { BootstrapLinks, GRACE_MS, LINK_LIFE_MS } from "../../src/bootstrap/bootstrap-links.ts";
import { FirstUser, type FirstUserOptions } from "../../src/bootstrap/first-user.ts";
import { resumeEach } from "../../src/bootstrap/resume-each.ts";
import { UsedLinks } from "../../src/bootstrap/used-links.ts";
import type { BootstrapTables } from "../../src/ground/store/bootstrap-tables.ts";
import type { IamTables } from "../../src/ground/store/tables.ts";
import type { UserTables } from "../../src/ground/store/user-tables.ts";
import { LocalAccounts } from "../../src/people/accounts/local-accounts.ts";
import { stackDatabase } from "../support/databases.ts";
import { serviceHasher } from "../support/hash-cost.ts";

const { signal } = new AbortController();
const FORM = { username: "root", displayName: "Root", email: "root@example.com" };
const PASSWORDS = {
  password: "correct horse battery staple",
  repeated: "correct horse battery staple",
};
const OTHER =
  "the users of this database belong to umbrella since a later start: correct iam.organization of the replicas";

const open = async () => (await stackDatabase()).open().as<IamTables>();
let database: Awaited<ReturnType<typeof open>>;
let links: BootstrapLinks;
/** What the engine has, and the audit. */
let owners: Set<string>;
let recorded: unknown[];
beforeEach(async () => {
  database = await open();
  links = new BootstrapLinks(database.as<BootstrapTables>().kysely);
  owners = new Set();
  recorded = [];
});

const audit = { record: async (record: unknown) => void recorded.push(record) };
function firstUser(organization: string): FirstUser {
  const engine = {
    hasOwner: async (zone: string, _: AbortSignal, id?: string) => owners.has(`${zone} ${id}`),
    makeFirstOwner: async (zone: string, id: string) => owners.add(`${zone} ${id}`) === owners,
  };
  return new FirstUser({
    database,
    links,
    owners: engine as never,
    used: new UsedLinks(),
    accounts: new LocalAccounts(database.as<UserTables>().kysely, organization),
    hasher: serviceHasher,
    recorder: audit,
  } satisfies FirstUserOptions);
}
/** A link of a time; begun, and with its user as the owner, if its user is given. */
async function newLink(username?: string, { now = Date.now(), isOwner = true } = {}) {
  const timed = new BootstrapLinks(database.as<BootstrapTables>().kysely, () => now);
  const { token } = await timed.make("acme");
  const link = (await timed.find(token)) ?? expect.fail();
  if (username === undefined) return link;
  await timed.begin(link, { ...FORM, username, passwordHash: "not a hash" });
  if (isOwner) owners.add(`acme ${link.accountId}`);
  return link;
}
const names = async () =>
  (await database.kysely.selectFrom("iam_users").select("username").execute()).map(
    ({ username }) => username,
  );
const hashes = async () =>
  (await database.kysely.selectFrom("iam_bootstrap_links").selectAll().execute()).map(
    ({ token_hash: hash, pending }) => [hash, pending === null ? "idle" : "begun"],
  );

test("where no user can be made, nobody becomes an owner, and the link is as it was", async () => {
  await refuseOtherOrganization(database, "acme");
  await refuseOtherOrganization(database, "umbrella");
  const link = await newLink();
  const call = { signal, audit: audit as never };
  await expect(firstUser("acme").make(link, { ...FORM, ...PASSWORDS }, call)).rejects.toThrow(
    OTHER,
  );
  expect([[...owners], recorded, await names()]).toEqual([[], [], []]);
  expect(await hashes()).toEqual([[link.hash, "idle"]]);
  await refuseOtherOrganization(database, "acme");
  const made = await firstUser("acme").make(link, { ...FORM, ...PASSWORDS }, call);
  expect([made.outcome, await names(), owners.size]).toEqual(["made", ["root"], 1]);
});

test("the job completes and ends the other links beside one that fails, and says so after all", async () => {
  await refuseOtherOrganization(database, "acme");
  const now = Date.now();
  const old = now - 2 * LINK_LIFE_MS - GRACE_MS;
  const idle = await newLink();
  const [failing, whole] = [await newLink("ann"), await newLink("ben")];
  await database.kysely
    .updateTable("iam_bootstrap_links")
    .set({ expire_time: old })
    .where("token_hash", "=", idle.hash)
    .execute();
  await newLink("cal", { now: old, isOwner: false });
  const { end } = links;
  vi.spyOn(links, "end").mockImplementation(async function (this: BootstrapLinks, hash, ...rest) {
    if (hash === failing.hash) throw new Error("connection lost");
    return end.call(links, hash, ...rest);
  });
  await expect(firstUser("acme").resume(signal, now)).rejects.toThrow("connection lost");
  expect(await names()).toEqual(["ben"]);
  // Those that have come to nothing are gone.
  expect((await hashes()).toSorted()).toEqual(
    [
      [failing.hash, "begun"],
      [whole.hash, "idle"],
    ].toSorted(),
  );
});

test("the job of a later organization makes no user of a former one, which its own job does", async () => {
  await refuseOtherOrganization(database, "acme");
  await newLink("ann");
  await refuseOtherOrganization(database, "umbrella");
  await expect(firstUser("acme").resume(signal)).rejects.toThrow(OTHER);
  await firstUser("umbrella").resume(signal);
  expect(await names()).toEqual([]);
  await refuseOtherOrganization(database, "acme");
  await firstUser("acme").resume(signal);
  expect(await names()).toEqual(["ann"]);
});

test("an abort leaves the links that are left, and the first of several errors is thrown", async () => {
  const seen: string[] = [];
  const stop = new AbortController();
  const [first, second, third] = [await newLink(), await newLink(), await newLink()];
  const work = resumeEach([first, second, third], stop.signal, async ({ hash }) => {
    seen.push(hash);
    if (hash === second.hash) stop.abort();
    throw new Error(`error ${seen.length}`);
  });
  await expect(work).rejects.toThrow("error 1");
  expect(seen).toEqual([first.hash, second.hash]);
});
