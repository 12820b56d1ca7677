import { readFileSync } from "node:fs";
import { testContext, testEngine } from "svc-access/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountRights, ZONE_RELATIONS } from "../../../src/api/users/account-rights.ts";

const MODEL = new URL("../../../../../model/iam.zed", import.meta.url).pathname;
const { signal } = new AbortController();
const ADMIN = { type: "user", id: "admin" };

let engine: Awaited<ReturnType<typeof testEngine>>;
let rights: AccountRights;
beforeAll(async () => {
  engine = await testEngine({
    model: MODEL,
    relationships: [
      "zone:acme#owner@user:root",
      "zone:acme#user_manager@user:manager",
      "zone:acme#user_manager@user:colleague",
      "zone:acme#admin@user:admin",
      "zone:acme#permission_admin@group:auditors#member",
      "group:auditors#zone@zone:acme",
      "group:auditors#member@user:auditor",
      "group:auditors#member@group:seniors#member",
      "group:seniors#zone@zone:acme",
      "group:seniors#member@user:senior",
      "group:auditors#member@user:second",
      "group:auditors#member@service_account:robot",
      "zone:acme#user_manager@service_account:helper",
      "zone:acme#user_manager@user:second",
      "zone:other#user_viewer@user:guest",
      "zone:other#owner@user:neighbour",
      "zone:acme#user_manager@user:neighbour",
    ],
  });
  rights = new AccountRights(engine, "acme");
});
afterAll(() => engine.close());

async function covers(caller: string, account: string): Promise<boolean> {
  const { principal } = testContext({ user: caller });
  if (principal === undefined) throw new Error("the context has no caller");
  try {
    await rights.assertCovers(principal, { type: "user", id: account }, signal);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "FORBIDDEN" });
    expect((error as Error).message).not.toContain(account);
    return false;
  }
}

test.each([
  ["an owner of the zone", "manager", "root"],
  ["an admin of the zone", "manager", "admin"],
  ["a member of a group that holds a relation", "manager", "auditor"],
  ["a member of a group in that group", "manager", "senior"],
  ["who holds a relation to another zone", "manager", "guest"],
  ["a user manager, as an admin who is not one itself", "admin", "manager"],
])("%s is not covered [IAM-9]", async (_, caller, account) => {
  expect(await covers(caller, account)).toBe(false);
});

test.each([
  ["nothing to any zone", "manager", "nobody-in-particular"],
  ["the same relation", "manager", "colleague"],
  ["a relation that both have by the same group", "second", "auditor"],
  ["whatever, for an owner of the organization's zone", "root", "guest"],
  ["the same as the caller, who it is", "admin", "admin"],
  ["a relation to a zone that the caller owns", "neighbour", "guest"],
])("an account that holds %s is covered [IAM-9]", async (_, caller, account) => {
  expect(await covers(caller, account)).toBe(true);
});

test.each([
  ["manager", "helper", true],
  ["manager", "robot", false],
  ["second", "robot", true],
  ["root", "robot", true],
  // Users of the same ids are others.
  ["manager", "root", true],
])(
  "%s: whether the service account %s is covered is %s [IAM-35]",
  async (caller, id, isCovered) => {
    const principal = { subjectType: "user", subjectId: caller } as const;
    const covered = rights.assertCovers(principal, { type: "service_account", id }, signal);
    expect(
      await covered.then(
        () => true,
        (error) => error.code !== "FORBIDDEN",
      ),
    ).toBe(isCovered);
  },
);

test("an account that holds nothing is covered only as long as the caller manages users [IAM-9]", async () => {
  expect(await covers("second", "nobody-in-particular")).toBe(true);
  const relationship = {
    resource: { type: "zone", id: "acme" },
    relation: "user_manager",
    subject: { type: "user", id: "second" },
  };
  const change = (operation: "DELETE" | "TOUCH") =>
    engine.writeRelationships({ updates: [{ operation, relationship }] });
  await change("DELETE");
  expect(await covers("second", "nobody-in-particular")).toBe(false);
  expect(await covers("second", "second")).toBe(false);
  await change("TOUCH");
});

test("a service of the same id as an owner is not that owner", async () => {
  const { principal } = testContext({ service: "root" });
  await expect(
    rights.assertCovers(principal as NonNullable<typeof principal>, ADMIN, signal),
  ).rejects.toMatchObject({ code: "FORBIDDEN" });
});

test("an engine that fails covers nobody", async () => {
  const down = new Error("down");
  const failing = {
    readRelationships: async () => ({ items: [], revision: "" }),
    checkBulk: async () => ({ items: [{ error: down }], revision: "" }),
  } as never;
  const { principal } = testContext({ user: "root" });
  await expect(
    new AccountRights(failing, "acme").assertCovers(
      principal as NonNullable<typeof principal>,
      ADMIN,
      signal,
    ),
  ).rejects.toBe(down);
});

test("all is asked at least as fresh as what every replica has written", async () => {
  const asked: unknown[] = [];
  const watched = new Proxy(engine, {
    get: (target, name) => {
      const method = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => {
        asked.push([name, args.at(-1)]);
        return method.apply(target, args);
      };
    },
  });
  const manager = { subjectType: "user", subjectId: "manager" } as const;
  const covered = new AccountRights(watched, "acme").assertCovers(manager, ADMIN, signal);
  await expect(covered).rejects.toMatchObject({ code: "FORBIDDEN" });
  const [first, ...others] = asked;
  expect(first).toEqual(["readRelationships", expect.objectContaining({ newest: true })]);
  expect(others.length).toBeGreaterThan(7);
  for (const one of others) {
    expect(one).toEqual([
      expect.stringMatching(/^(checkBulk|lookupResources)$/),
      expect.objectContaining({ atLeastAsFresh: expect.any(String) }),
    ]);
  }
});

test("the relations of a zone are those of the model", () => {
  const [, zone = ""] = /definition zone \{([^}]*)\}/.exec(readFileSync(MODEL, "utf8")) ?? [];
  const relations = [...zone.matchAll(/relation (\w+):/g)].map(([, name]) => name);
  expect(relations).toEqual([...ZONE_RELATIONS]);
});
