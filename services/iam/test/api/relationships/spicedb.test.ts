/** The administration of relationships where SpiceDB has them, and other processes write too. */
import { readFileSync } from "node:fs";
import { createSpicedbEngine, parseModel, type SpicedbEngine } from "svc-access/authz";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type SpicedbServer,
  spicedbIsAbsent,
  startSpicedb,
} from "../../../../../test/support/spicedb.ts";
import { relationship, write } from "../../rights/rights-engine.ts";
import { type Administration, administrationOn, STORED, text } from "./administration.ts";

const FILE = new URL("../../../../../model/iam.zed", import.meta.url).pathname;
const SCHEMA = readFileSync(FILE, "utf8");
const { model } = parseModel(SCHEMA, FILE);

describe.skipIf(spicedbIsAbsent())("with SpiceDB", () => {
  let spicedb: SpicedbServer;
  /** Of another process, whose writes this one does not know. */
  let other: SpicedbEngine;
  let service: Administration;
  beforeAll(async () => {
    spicedb = await startSpicedb();
    const { endpoint, token } = spicedb;
    const engine = () => createSpicedbEngine({ endpoint, token, insecure: true, model });
    other = await engine();
    await other.writeSchema(SCHEMA);
    await write(other, ...STORED);
    service = await administrationOn(await engine());
  });
  afterAll(async () => {
    await other.close();
    await service[Symbol.asyncDispose]();
    await spicedb.stop();
  });

  const grant = (user: string, ...texts: string[]) =>
    service.call("writeRelationships", { relationships: texts.map(relationship) }, user);
  const revoke = (user: string, ...texts: string[]) =>
    service.call("writeRelationships", { deletions: texts.map(relationship) }, user);

  test("the rules hold, also about what another process has just written", async () => {
    expect((await grant("site-admin", "project:site#viewer@user:x")).code).toBe("OK");
    expect((await grant("site-admin", "project:site#owner@user:x")).code).toBe("FORBIDDEN");
    expect((await grant("eng-owner", "group:eng#member@user:x")).code).toBe("OK");
    await write(other, "group:top#member@group:eng#member", "zone:acme#admin@group:top#member");
    expect((await grant("eng-owner", "group:eng#member@user:y")).code).toBe("FORBIDDEN");
    expect((await grant("root", "group:eng#member@user:y")).code).toBe("OK");
    await write(other, "-project:site#admin@user:site-admin");
    expect((await grant("site-admin", "project:site#viewer@user:z")).code).toBe("FORBIDDEN");
    await write(other, "project:site#admin@user:site-admin");
    await write(other, "-zone:acme#admin@group:top#member", "-group:top#member@group:eng#member");
  });

  test("a list that continues leaves out what the caller may no longer see", async () => {
    const projects = Array.from({ length: 1100 }, (_, at) => `project:l${at}#owner@user:lister`);
    for (let start = 0; start < projects.length; start += 500) {
      await write(other, ...projects.slice(start, start + 500));
    }
    await write(other, "project:l999#viewer@user:mole");
    const found: string[] = [];
    for (let pageToken = ""; ; ) {
      const consistency = { fullyConsistent: true };
      const query = { resourceType: "project", pageSize: 50, pageToken, consistency };
      const { code, body } = await service.call("listRelationships", query, "lister");
      expect(code).toBe("OK");
      found.push(...body.relationships.map(text));
      pageToken = body.nextPageToken;
      if (pageToken === "") break;
      // The lookup continues in the state before this.
      if (found.length === 1050) await write(other, "-project:l999#owner@user:lister");
    }
    expect(found).toEqual(projects.toSorted().slice(0, -1));
  });

  test("a set that would contain itself is refused, without names", async () => {
    await write(other, "group:in#manager@user:ina", "group:out#member@group:in#member");
    const { code, message } = await grant("ina", "group:in#member@group:out#member");
    expect([code, message]).toEqual(["FAILED_PRECONDITION", expect.not.stringContaining("out")]);
  });

  test("the last owner stays [IAM-10]", async () => {
    await write(other, "zone:kept#owner@user:one", "zone:kept#owner@group:kept#member");
    await write(other, "group:kept#member@user:two");
    expect((await revoke("two", "zone:kept#owner@user:one")).code).toBe("OK");
    expect((await revoke("two", "zone:kept#owner@group:kept#member")).code).toBe(
      "FAILED_PRECONDITION",
    );
  });

  test.each([1, 3, 100])(
    "a list in pages of %i continues after writes [IAM-11]",
    async (pageSize) => {
      const spaces = ["s1", "s2"].flatMap((id) => [
        `skill_space:${id}#owner@user:keeper`,
        ...["a", "b", "c", "d"].map((user) => `skill_space:${id}#viewer@user:${user}`),
      ]);
      await write(other, ...spaces, "skill_space:s1-x#owner@user:somebody");
      const found: string[] = [];
      for (let pageToken = ""; ; ) {
        const consistency = { fullyConsistent: true };
        const query = { resourceType: "skill_space", pageSize, pageToken, consistency };
        const { code, body } = await service.call("listRelationships", query, "keeper");
        expect(code).toBe("OK");
        found.push(...body.relationships.map(text));
        pageToken = body.nextPageToken;
        if (pageToken === "") break;
        await write(other, `project:noise#viewer@user:n${found.length}`);
      }
      expect(found.sort()).toEqual(spaces.sort());
    },
  );

  test("who holds a permission, and why, is cut likewise [IAM-11]", async () => {
    const site = { resource: { type: "project", id: "site" }, permission: "read" };
    const { body } = await service.call("listAccess", site, "site-admin");
    const shown = body.entries.map(({ subject, notShown }: any) => notShown || subject.id);
    expect(shown).toEqual([
      "site-admin",
      "site-owner",
      "x",
      "group:eng (members not shown)",
      "group:secret (members not shown)",
      "organization:one (relationships not shown)",
    ]);
    const about = { ...site, subject: { type: "user", id: "mole" } };
    const explained = await service.call("explainPermission", about, "site-admin");
    expect(explained.body.allowed).toBe(true);
    expect(JSON.stringify(explained.body)).not.toContain("mole");
    expect(explained.body.steps.at(-1).notShown).toBe("group:secret (members not shown)");
  });
});
