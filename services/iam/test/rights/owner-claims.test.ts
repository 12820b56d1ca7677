import type { ServiceDatabase } from "svc-access/database";
import { describe, expect, test, vi } from "vitest";
import type { OwnerClaimTables } from "../../src/ground/store/owner-claim-tables.ts";
import { OwnerClaims } from "../../src/rights/owner-claims.ts";
import { stackDatabase } from "../support/databases.ts";

const signal = new AbortController().signal;

describe("claims", () => {
  const open = async (now: () => number) => {
    const { open } = await stackDatabase();
    const database = open().as<OwnerClaimTables>();
    const warn = vi.fn();
    return { claims: new OwnerClaims(database, { warn }, now), database, warn };
  };
  const rows = (database: ServiceDatabase<OwnerClaimTables>) =>
    database.kysely.selectFrom("iam_owner_claims").select("object").execute();
  const settled = () => true;

  test("end with the operation, also with an error of its own", async () => {
    const { claims, database } = await open(Date.now);
    expect(await claims.during(["zone:a"], signal, async () => "done", settled)).toBe("done");
    const failing = claims.during(
      ["zone:a"],
      signal,
      () => Promise.reject(new Error("no")),
      settled,
    );
    await expect(failing).rejects.toThrow("no");
    expect(await rows(database)).toEqual([]);
  });

  test("stay where the operation may still happen, until they expire", async () => {
    let now = 1_000_000;
    const { claims, database } = await open(() => now);
    const lost = claims.during(
      ["zone:a"],
      signal,
      () => Promise.reject(new Error("lost")),
      () => false,
    );
    await expect(lost).rejects.toThrow("lost");
    expect(await rows(database)).toEqual([{ object: "zone:a" }]);
    const blocked = claims.during(["zone:a"], signal, async () => "done", settled);
    await expect(blocked).rejects.toMatchObject({ code: "UNAVAILABLE" });
    now += 60_001;
    expect(await claims.during(["zone:b"], signal, async () => "done", settled)).toBe("done");
    expect(await rows(database)).toEqual([]);
    expect(await claims.during(["zone:a"], signal, async () => "done", settled)).toBe("done");
  });

  test("that cannot be released expire, and change nothing for the operation", async () => {
    let now = 1_000_000;
    const { claims, database, warn } = await open(() => now);
    const lost = new Error("connection lost");
    vi.spyOn(database.kysely, "deleteFrom").mockImplementation(() => {
      throw lost;
    });
    expect(await claims.during(["zone:a"], signal, async () => "done", settled)).toBe("done");
    const refused = () => Promise.reject(new Error("refused"));
    await expect(claims.during(["zone:b"], signal, refused, settled)).rejects.toThrow("refused");
    expect(warn.mock.calls.map(([members]) => members.error)).toEqual([lost, lost]);
    vi.restoreAllMocks();
    expect(await rows(database)).toEqual([{ object: "zone:a" }, { object: "zone:b" }]);
    now += 60_001;
    expect(await claims.during(["zone:a"], signal, async () => "done", settled)).toBe("done");
    expect(await rows(database)).toEqual([]);
  });

  describe("of a group", () => {
    const granting = { granted: ["group:a"] };
    const deleting = { deleted: ["group:a"] };
    const done = async () => "done";

    test("let others grant it something at the same time, and nobody delete it", async () => {
      const { claims, database } = await open(Date.now);
      const grant = (work: () => Promise<string>) =>
        claims.during([], signal, work, settled, granting);
      const outer = grant(() => grant(async () => (await rows(database)).length.toString()));
      expect(await outer).toBe("2");
      const order: string[] = [];
      let deletion: Promise<string> | undefined;
      await grant(async () => {
        deletion = claims.during(
          ["group:a"],
          signal,
          async () => {
            order.push("deleted");
            return "done";
          },
          settled,
          deleting,
        );
        // The deletion has its claims, and so waits.
        await vi.waitUntil(async () => (await rows(database)).length === 3);
        order.push("granted");
        return "done";
      });
      expect(await deletion).toBe("done");
      expect(order).toEqual(["granted", "deleted"]);
      expect(await rows(database)).toEqual([]);
    });

    test("let nobody grant it something while it is deleted, and others as before", async () => {
      const { claims } = await open(Date.now);
      await claims.during(
        ["group:a"],
        signal,
        async () => {
          const late = claims.during([], signal, done, settled, granting);
          await expect(late).rejects.toMatchObject({
            code: "UNAVAILABLE",
            message: "another change of the same owners or groups is under way: repeat the call",
          });
          const other = { granted: ["group:ab", "group:A", "group:"] };
          expect(await claims.during([], signal, done, settled, other)).toBe("done");
          return "done";
        },
        settled,
        deleting,
      );
      expect(await claims.during([], signal, done, settled, granting)).toBe("done");
    });

    test("of a grant that may still happen keep it from being deleted only", async () => {
      let now = 1_000_000;
      const { claims } = await open(() => now);
      const lost = () => Promise.reject(new Error("lost"));
      const grant = claims.during([], signal, lost, () => false, granting);
      await expect(grant).rejects.toThrow("lost");
      expect(await claims.during([], signal, done, settled, granting)).toBe("done");
      const deletion = () => claims.during(["group:a"], signal, done, settled, deleting);
      await expect(deletion()).rejects.toMatchObject({ code: "UNAVAILABLE" });
      const other = { deleted: ["group:ab"] };
      expect(await claims.during(["group:ab"], signal, done, settled, other)).toBe("done");
      now += 60_001;
      expect(await deletion()).toBe("done");
    });
  });

  test("do not wait beyond the call", async () => {
    const { claims } = await open(Date.now);
    const abort = new AbortController();
    await claims.during(
      ["zone:a"],
      signal,
      async () => {
        const waiting = claims.during(["zone:a"], abort.signal, async () => "done", settled);
        abort.abort(new Error("gone"));
        await expect(waiting).rejects.toThrow("gone");
      },
      settled,
    );
  });
});
