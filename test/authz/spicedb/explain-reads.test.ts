import { afterEach, describe, expect, test, vi } from "vitest";
import { ExplainReads } from "../../../src/authz/spicedb/check/explain-reads.ts";
import { spicedbIsAbsent } from "../../support/spicedb.ts";
import { request, updates, useSpicedb } from "./fixture.ts";

const SCHEMA = `
definition user {}
definition team {
  relation member: user
}
definition document {
  relation first: team
  relation second: team
  relation viewer: user
  permission any = first->member + second->member
  permission all = first->member & second->member
  permission any_nested = (viewer & (first->member + second->member)) + first->member
  permission all_nested = (first->member & second->member) + viewer
}
`;

const FACTS = [
  "document:granted#first@team:with",
  "document:granted#second@team:without",
  "document:granted#viewer@user:ann",
  "document:refused#first@team:without",
  "document:refused#second@team:with",
  "document:refused#viewer@user:ann",
  "team:with#member@user:ann",
  "team:without#member@user:bob",
];

describe.skipIf(spicedbIsAbsent())("an explanation by SpiceDB", () => {
  const used = useSpicedb(SCHEMA);
  afterEach(() => vi.restoreAllMocks());

  test.each([
    ["document:granted#any", true, ["first"]],
    ["document:refused#any", true, ["first", "second"]],
    // Its steps are explained even so: only decisions stop.
    ["document:granted#all", false, ["first", "second"]],
    ["document:granted#any_nested", true, ["first"]],
    ["document:refused#all_nested", true, ["first"]],
  ] as const)("of %s reads no arrow that no longer decides", async (text, allowed, arrows) => {
    await used.engine.writeRelationships({ updates: updates("TOUCH", ...FACTS) });
    const read = vi.spyOn(ExplainReads.prototype, "read");
    const result = await used.engine.explain(request(`${text}@user:ann`));
    expect(result).toMatchObject({ allowed, explanation: { allowed } });
    const names = read.mock.calls.map(([, name]) => name);
    expect(names.filter((name) => name === "first" || name === "second")).toEqual(arrows);
  });
});
