import { AuthzError } from "svc-access/authz";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { relationship } from "../../rights/rights-engine.ts";
import { type Administration, administration, STORED, text } from "./administration.ts";

const IDS = ["p1", "p2", "p3"];
const RELATIONSHIPS = IDS.flatMap((id) => [
  `skill_space:${id}#owner@user:keeper`,
  ...Array.from({ length: 7 }, (_, at) => `skill_space:${id}#viewer@user:v${at}`),
]);
/** Between those that the caller may see. */
const OTHERS = Array.from({ length: 300 }, (_, at) => `skill_space:p1-${at}#owner@user:somebody`);

let service: Administration;
beforeAll(async () => {
  service = await administration(...STORED, ...RELATIONSHIPS, ...OTHERS);
});
afterAll(() => service[Symbol.asyncDispose]());

const list = (query: object, user: string) => service.call("listRelationships", query, user);
const SPACES = { resourceType: "skill_space" };

describe("a list of relationships [IAM-11]", () => {
  test.each([
    ["no type", {}, "INVALID_ARGUMENT"],
    ["an unknown type", { resourceType: "thing" }, "INVALID_ARGUMENT"],
    ["an unknown relation", { resourceType: "project", relation: "executor" }, "INVALID_ARGUMENT"],
    ["a size that is too large", { resourceType: "project", pageSize: 1001 }, "INVALID_ARGUMENT"],
    ["a negative size", { resourceType: "project", pageSize: -1 }, "INVALID_ARGUMENT"],
    ["a token of nobody", { resourceType: "project", pageToken: "x" }, "INVALID_ARGUMENT"],
    ["another's resource", { resourceType: "project", resourceId: "other" }, "FORBIDDEN"],
    ["a resource that does not exist", { resourceType: "project", resourceId: "no" }, "FORBIDDEN"],
    ["a type that nobody manages", { resourceType: "user" }, "FORBIDDEN"],
  ])("is refused with %s", async (_, query, code) => {
    expect((await list(query, "site-admin")).code).toBe(code);
  });

  test("has the resources that the caller may see, and no others", async () => {
    const seen = async (resourceType: string, user: string) =>
      (await list({ resourceType }, user)).body.relationships.map(text);
    expect(await seen("project", "ed")).toEqual([]);
    expect(await seen("project", "site-admin")).toEqual([
      "project:site#admin@user:site-admin",
      "project:site#developer@group:eng#member",
      "project:site#owner@user:site-owner",
      "project:site#parent@organization:one",
      "project:site#viewer@group:secret#member",
    ]);
    expect(await seen("project", "other-owner")).toEqual(["project:other#owner@user:other-owner"]);
    expect(await seen("group", "padmin")).toEqual([
      "group:eng#member@user:ed",
      "group:eng#owner@user:eng-owner",
      "group:eng#zone@zone:acme",
    ]);
  });

  test("has one relation, if the request names it", async () => {
    const query = { ...SPACES, relation: "owner" };
    expect((await list(query, "keeper")).body.relationships.map(text)).toEqual(
      RELATIONSHIPS.filter((one) => one.includes("#owner")),
    );
  });
});

describe("pages of a list [IAM-11]", () => {
  const all = async (pageSize: number, query: object, between: (page: number) => unknown) => {
    const found: string[] = [];
    const tokens: string[] = [];
    for (let pageToken = ""; ; tokens.push(pageToken)) {
      const { code, body } = await list({ ...query, pageSize, pageToken }, "keeper");
      expect([code, body.relationships.length <= pageSize]).toEqual(["OK", true]);
      found.push(...body.relationships.map(text));
      pageToken = body.nextPageToken;
      if (pageToken === "") return { found, tokens };
      await between(tokens.length);
    }
  };
  const noise = (page: number) => service.store(`project:noise#viewer@user:n${page}`);
  const SIZES = [1, 2, 3, 7, 8, 9, 16, 24, 100];

  test.each(SIZES)("of %i have each relationship once, in order", async (size) => {
    expect((await all(size, SPACES, () => undefined)).found).toEqual(RELATIONSHIPS);
  });

  test.each(SIZES)("of %i continue after writes", async (size) => {
    expect((await all(size, SPACES, noise)).found).toEqual(RELATIONSHIPS);
    const one = { ...SPACES, resourceId: "p2" };
    expect((await all(size, one, noise)).found).toEqual(
      RELATIONSHIPS.filter((text) => text.includes(":p2#")),
    );
  });

  test("show what was written after their place, and leave out what was deleted", async () => {
    const { body } = await list({ ...SPACES, pageSize: 10 }, "keeper");
    await service.store("skill_space:p2#viewer@user:v9", "-skill_space:p3#viewer@user:v3");
    await service.store("-skill_space:p2#viewer@user:v0");
    const rest = await list({ ...SPACES, pageToken: body.nextPageToken }, "keeper");
    const found = [...body.relationships, ...rest.body.relationships].map(text);
    const expected = [...RELATIONSHIPS, "skill_space:p2#viewer@user:v9"].sort();
    expect(found).toEqual(expected.filter((one) => !one.includes("p3#viewer@user:v3")));
    await service.store("-skill_space:p2#viewer@user:v9", "skill_space:p3#viewer@user:v3");
    await service.store("skill_space:p2#viewer@user:v0");
  });

  test("of many resources without a match may be empty, and continue", async () => {
    const { body } = await list({ ...SPACES, relation: "editor" }, "somebody");
    expect([body.relationships, body.nextPageToken === ""]).toEqual([[], false]);
    const query = { ...SPACES, relation: "editor", pageToken: body.nextPageToken };
    const last = (await list(query, "somebody")).body;
    expect([last.relationships, last.nextPageToken]).toEqual([[], ""]);
  });

  test("end for a caller who may no longer see the resources", async () => {
    const { body } = await list({ ...SPACES, pageSize: 5 }, "keeper");
    const owners = ["skill_space:p1#owner@user:keeper", "skill_space:p2#owner@user:keeper"];
    await service.store(...owners.map((one) => `-${one}`));
    const next = await list({ ...SPACES, pageToken: body.nextPageToken }, "keeper");
    expect(next.body.relationships.map(text)).toEqual(
      RELATIONSHIPS.filter((one) => one.includes(":p3#")),
    );
    await service.store(...owners);
  });

  test("for the end of a long list skip much by each read after a write, and let others run", async () => {
    const many = Array.from({ length: 2500 }, (_, at) => {
      return `skill_space:long#viewer@user:w${String(at).padStart(4, "0")}`;
    });
    for (let at = 0; at < many.length; at += 500) {
      await service.store("skill_space:long#owner@user:reader", ...many.slice(at, at + 500));
    }
    const query = { ...SPACES, resourceId: "long" };
    let pageToken = "";
    for (const pageSize of [1000, 1000, 498]) {
      const page = await list({ ...query, pageSize, pageToken }, "reader");
      pageToken = page.body.nextPageToken;
    }
    await service.store("project:noise#viewer@user:long");
    const read = vi.spyOn(service.engine, "readRelationships");
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const next = await list({ ...query, pageSize: 1, pageToken }, "reader");
    isOver = true;
    expect(next.body.relationships.map(text)).toEqual(many.slice(2497, 2498));
    // The outdated one, the resource, three for what is skipped, and one for where the page ends.
    expect(read).toHaveBeenCalledTimes(6);
    expect(turns).toBeGreaterThan(1);
    read.mockClear();
    // Its token is of the state of now.
    const after = { ...query, pageSize: 10, pageToken: next.body.nextPageToken };
    expect((await list(after, "reader")).body.relationships.map(text)).toEqual(many.slice(2498));
    expect(read).toHaveBeenCalledTimes(2);
    read.mockRestore();
  });

  test("end with ABORTED where writes never let them continue", async () => {
    const read = vi.spyOn(service.engine, "readRelationships");
    read.mockImplementation(async (filter, page) => {
      // As where each page of the engine is followed by a write.
      if (page?.cursor !== undefined) throw new AuthzError("OUT_OF_RANGE", "there were writes");
      const items = RELATIONSHIPS.slice(0, 2).map(relationship);
      return { items, nextCursor: "next", revision: JSON.stringify(filter) };
    });
    const { code, message } = await list({ ...SPACES, resourceId: "p1" }, "keeper");
    expect([code, message]).toEqual(["ABORTED", expect.stringContaining("try again")]);
    expect(read.mock.calls.length).toBeLessThan(30);
    read.mockRestore();
  });

  test("have tokens that nobody reads, makes or changes", async () => {
    const { tokens } = await all(3, SPACES, () => undefined);
    for (const token of tokens) {
      const bytes = Buffer.from(token.split(".").at(-1) ?? "", "base64url").toString("latin1");
      // All are too long for random bytes to contain them.
      expect(bytes).not.toMatch(/skill_space|viewer@user|somebody/);
    }
    const [pageToken = ""] = tokens;
    const one = pageToken.at(-9) === "A" ? "B" : "A";
    const former = ["relationships.2", "digest", "p1", "", "", "a revision of their choice"];
    for (const token of [
      `${pageToken.slice(0, -9)}${one}${pageToken.slice(-8)}`,
      pageToken.slice(0, -4),
      `${pageToken}.`,
      Buffer.from(JSON.stringify(former)).toString("base64url"),
    ]) {
      const { code, message } = await list({ ...SPACES, pageToken: token }, "keeper");
      expect([code, message]).toEqual(["INVALID_ARGUMENT", expect.stringContaining("first page")]);
    }
    // A key that is missing here may be at another replica.
    const ofAnotherKey = { ...SPACES, pageToken: "v1.AAAAAAAAAA.AAAA" };
    expect(await list(ofAnotherKey, "keeper")).toMatchObject({
      code: "ABORTED",
      message: expect.stringContaining("first page"),
    });
  });

  test("have tokens of one list of one caller", async () => {
    const { body } = await list({ ...SPACES, pageSize: 3 }, "keeper");
    const { nextPageToken: pageToken } = body;
    for (const query of [
      { resourceType: "project" },
      { ...SPACES, relation: "viewer" },
      { ...SPACES, resourceId: "p1" },
    ]) {
      expect((await list({ ...query, pageToken }, "keeper")).code).toBe("INVALID_ARGUMENT");
    }
    expect((await list({ ...SPACES, pageToken }, "somebody")).code).toBe("INVALID_ARGUMENT");
  });

  test("continue the lookup of resources, and do not begin it again", async () => {
    const texts = Array.from({ length: 3000 }, (_, at) => `project:many-${at}#owner@user:busy`);
    for (let start = 0; start < texts.length; start += 500) {
      await service.store(...texts.slice(start, start + 500));
    }
    const lookups = vi.spyOn(service.engine, "lookupResources");
    const found: string[] = [];
    let [pageToken, pages] = ["", 0];
    do {
      const query = { resourceType: "project", pageSize: 100, pageToken };
      const { code, body } = await list(query, "busy");
      expect(code).toBe("OK");
      found.push(...body.relationships.map(text));
      pageToken = body.nextPageToken;
      pages++;
    } while (pageToken !== "");
    expect(found).toEqual(texts.toSorted());
    // A page of the list ends in one page of the lookup, or goes on in the next one.
    expect(lookups.mock.calls.length).toBeLessThanOrEqual(2 * pages);
    lookups.mockRestore();
  });
});
