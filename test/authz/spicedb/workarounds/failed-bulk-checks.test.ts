import { v1 } from "@authzed/authzed-node";
import { describe, expect, test } from "vitest";
import { spicedbIsAbsent } from "../../../support/spicedb.ts";
import { request } from "../fixture.ts";
import { consistency, isAllowed, onceRight, toMessage, withSpicedb } from "./raw-spicedb.ts";

const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}`;
/** Deeper than the 50 steps that SpiceDB allows. */
const DEPTH = 60;
const STORED = [
  ...Array.from({ length: DEPTH }, (_, n) => `group:g${n}#member@group:g${n + 1}#member`),
  `group:g${DEPTH}#member@user:ann`,
  "group:near#member@user:ann",
];
const DEEP = "group:g0#member@user:ann";
const NEAR = "group:near#member@user:ann";

describe.skipIf(spicedbIsAbsent())("a raw SpiceDB", () => {
  test("fails a check because of another one in its bulk request; here it is decided separately", async () => {
    await withSpicedb(SCHEMA, STORED, async (engine, client) => {
      expect(await isAllowed(client, NEAR)).toBe(true);
      const { pairs } = await client.checkBulkPermissions(
        v1.CheckBulkPermissionsRequest.create({
          ...{ consistency, items: [DEEP, NEAR].map(toMessage) },
        }),
      );
      const kinds = pairs.map(({ response }) => response.oneofKind);
      expect(kinds, onceRight("failed-bulk-checks.ts")).toEqual(["error", "error"]);

      const { items } = await engine.checkBulk([DEEP, NEAR].map(request));
      expect(items).toMatchObject([{ error: { code: "FAILED_PRECONDITION" } }, { allowed: true }]);
    });
  });
});
