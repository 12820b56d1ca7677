import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Administration, administration, STORED, text } from "./administration.ts";

let service: Administration;
beforeAll(async () => {
  service = await administration(...STORED);
});
afterAll(() => service[Symbol.asyncDispose]());

const SITE = { resource: { type: "project", id: "site" }, permission: "read" };
const access = (query: object, user = "site-admin") =>
  service.call("listAccess", { ...SITE, ...query }, user);
/** What is not shown or who it is, then the path. */
const shown = ({ subject, path, notShown }: any) => [
  notShown || `${subject.type}:${subject.id}`,
  ...path.map(text),
];

describe("who holds a permission [IAM-11]", () => {
  test.each([
    ["a caller who may not see the resource", {}, "ed", "FORBIDDEN"],
    ["an unknown permission", { permission: "fly" }, "site-admin", "INVALID_ARGUMENT"],
    ["an unknown type", { resource: { type: "thing", id: "a" } }, "site-admin", "INVALID_ARGUMENT"],
    ["an unknown type of subjects", { subjectType: "foo" }, "site-admin", "INVALID_ARGUMENT"],
    ["a set as type", { subjectType: "group#member" }, "site-admin", "INVALID_ARGUMENT"],
    ["no resource", { resource: undefined }, "site-admin", "INVALID_ARGUMENT"],
    ["a token of nobody", { pageToken: "x" }, "site-admin", "INVALID_ARGUMENT"],
    ["a size that is too large", { pageSize: 1001 }, "site-admin", "INVALID_ARGUMENT"],
  ])("is not listed with %s", async (_, query, user, code) => {
    expect((await access(query, user)).code).toBe(code);
  });

  test("is listed with the path, and not below what the caller may not see", async () => {
    const { body } = await access({});
    expect(body.entries.map(shown)).toEqual([
      ["user:site-admin", "project:site#admin@user:site-admin"],
      ["user:site-owner", "project:site#owner@user:site-owner"],
      ["group:eng (members not shown)", "project:site#developer@group:eng#member"],
      ["group:secret (members not shown)", "project:site#viewer@group:secret#member"],
      ["organization:one (relationships not shown)", "project:site#parent@organization:one"],
    ]);
    expect(body.incomplete).toBe(false);
    expect(JSON.stringify(body)).not.toMatch(/"ed"|mole|one-owner/);
  });

  test("is listed through what the caller may see", async () => {
    const rights = [
      "group:eng#permission_admin@user:site-admin",
      "organization:one#owner@user:site-admin",
    ];
    await service.store(...rights);
    expect((await access({})).body.entries.map(shown)).toEqual([
      ["user:ed", "project:site#developer@group:eng#member", "group:eng#member@user:ed"],
      [
        "user:one-owner",
        "project:site#parent@organization:one",
        "organization:one#owner@user:one-owner",
      ],
      ["user:site-admin", "project:site#admin@user:site-admin"],
      ["user:site-owner", "project:site#owner@user:site-owner"],
      ["group:secret (members not shown)", "project:site#viewer@group:secret#member"],
    ]);
    await service.store(...rights.map((one) => `-${one}`));
  });

  test("is listed of a relation, and of one type of subjects", async () => {
    const owners = await access({ permission: "owner" });
    expect(owners.body.entries.map(shown)).toEqual([
      ["user:site-owner", "project:site#owner@user:site-owner"],
    ]);
    const services = await access({ permission: "manage", subjectType: "service" });
    expect(services.body.entries.map(shown)).toEqual([
      ["organization:one (relationships not shown)", "project:site#parent@organization:one"],
    ]);
  });

  test.each([1, 2, 4, 5])("is listed in pages of %i, also while others write", async (pageSize) => {
    const found: unknown[] = [];
    for (let pageToken = ""; ; ) {
      const { body } = await access({ pageSize, pageToken });
      expect(body.entries.length).toBeLessThanOrEqual(pageSize);
      found.push(...body.entries);
      pageToken = body.nextPageToken;
      if (pageToken === "") break;
      await service.store(`project:noise#viewer@user:n${found.length}`);
    }
    expect(found).toEqual((await access({})).body.entries);
  });

  test("is cut off where there are too many, and says so", async () => {
    const many = Array.from({ length: 10_001 }, (_, at) => `skill:big#viewer@user:w${at}`);
    for (let at = 0; at < many.length; at += 1000) {
      await service.store(...many.slice(at, at + 1000));
    }
    await service.store("skill:big#owner@user:big-owner");
    const query = { resource: { type: "skill", id: "big" }, permission: "view" };
    const { body } = await access(query, "big-owner");
    expect([body.incomplete, body.entries.length]).toEqual([true, 50]);
  });
});
