import { describe, expect, test } from "vitest";
import { spicedbIsAbsent } from "../../../support/spicedb.ts";
import { request } from "../fixture.ts";
import { isAllowed, onceRight, resources, withSpicedb } from "./raw-spicedb.ts";

const SCHEMA = `definition person {
  relation friend: person
}
definition post {
  relation audience: person | person:*
  relation tagged: person | person#friend
  permission read = audience + tagged
}`;

describe.skipIf(spicedbIsAbsent())("a raw SpiceDB", () => {
  test("includes usersets in a wildcard of their type; here it is not asked", async () => {
    await withSpicedb(SCHEMA, ["post:one#audience@person:*"], async (engine, client) => {
      const text = "post:one#read@person:ann#friend";
      expect(await isAllowed(client, text), onceRight("userset-wildcards.ts")).toBe(true);
      // Its own lookups do not include them.
      expect(await resources(client, text)).toEqual([]);

      const refusal = { code: "UNIMPLEMENTED", message: expect.stringContaining("post#audience") };
      const asked = request(text);
      await expect(engine.check(asked)).rejects.toMatchObject(refusal);
      await expect(engine.explain(asked)).rejects.toMatchObject(refusal);
      const lookup = { ...asked, resourceType: "post" };
      await expect(engine.lookupResources(lookup)).rejects.toMatchObject(refusal);
      await expect(engine.checkAny(lookup)).rejects.toMatchObject(refusal);
      const person = request("post:one#read@person:ann");
      const tagged = request("post:one#tagged@person:ann#friend");
      const { items } = await engine.checkBulk([asked, person, tagged]);
      expect(items).toMatchObject([{ error: refusal }, { allowed: true }, { allowed: false }]);
    });
  });
});
