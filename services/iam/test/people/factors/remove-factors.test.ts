import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseOf, startSelf } from "../../support/browser-login.ts";
import { asUser, type IamService } from "../../support/iam-service.ts";

let iam: IamService;
let bob: string;
const factors = () => databaseOf(iam).kysely.selectFrom("iam_second_factors").selectAll();
const codes = () => databaseOf(iam).kysely.selectFrom("iam_recovery_codes").selectAll();

beforeAll(async () => {
  iam = await startSelf({ authn: { mode: "hybrid" } });
  const { kysely } = databaseOf(iam);
  const users = await kysely.selectFrom("iam_users").selectAll().execute();
  bob = users.find(({ username }) => username === "bob")?.id ?? "";
  for (const { id } of users) {
    const row = { account_id: id, kind: "passkey", secret: null, public_key: "x" } as const;
    const times = { counter: 0, create_time: 1, use_time: null };
    await kysely
      .insertInto("iam_second_factors")
      .values({ ...row, ...times, id: `factor of ${id}`, credential_id: id })
      .execute();
    await kysely
      .insertInto("iam_recovery_codes")
      .values({ account_id: id, code_hash: "x" })
      .execute();
  }
  for (const relation of ["owner", "admin", "user_manager"]) {
    const resource = { type: "zone", id: "acme" };
    const relationship = { resource, relation, subject: { type: "user", id: relation } };
    const updates = [{ operation: "TOUCH", relationship }] as const;
    await iam.options.engine?.writeRelationships({ updates });
  }
});
afterAll(() => iam.stop());

const remove = (caller: string, user = bob) =>
  iam.call("DELETE", `/v1/users/${user}/second-factors`, undefined, asUser(caller));

test.each<[caller: string, user: () => string, status: number]>([
  ["nobody", () => bob, 403],
  ["user_manager", () => bob, 403],
  ["admin", () => bob, 403],
  ["owner", () => "unknown", 404],
])("%s does not remove them [FACTOR-7]", async (caller, user, status) => {
  expect(await remove(caller, user())).toMatchObject({ status });
  expect(await factors().execute()).toHaveLength(2);
});

test("an owner does not remove the own ones: a token that was stolen would be enough [FACTOR-7]", async () => {
  const resource = { type: "zone", id: "acme" };
  const relationship = { resource, relation: "owner", subject: { type: "user", id: bob } };
  const write = (operation: "TOUCH" | "DELETE") =>
    iam.options.engine?.writeRelationships({ updates: [{ operation, relationship }] });
  await write("TOUCH");
  const { status, body } = await remove(bob);
  await write("DELETE");
  expect([status, body.message]).toEqual([
    403,
    "this is for the accounts of others; for your own, open /v1/iam/oidc/account/factors in a browser",
  ]);
  expect(await factors().execute()).toHaveLength(2);
});

test("an owner of the zone removes those of one user, with the recovery codes [FACTOR-7]", async () => {
  expect(await remove("owner")).toMatchObject({ status: 200, body: { removedCount: 1 } });
  for (const query of [factors(), codes()]) {
    const left = await query.execute();
    expect(left.map(({ account_id }) => account_id)).not.toContain(bob);
    expect(left).toHaveLength(1);
  }
  // Whoever has none keeps none.
  expect((await remove("owner")).body.removedCount ?? 0).toBe(0);
});
