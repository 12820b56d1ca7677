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
