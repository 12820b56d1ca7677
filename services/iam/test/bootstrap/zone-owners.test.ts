/** Who owns a zone, where an engine may answer with a former state. */
import type { AuthorizationEngine } from "svc-access/authz";
import { expect, test } from "vitest";
import { ZoneOwners } from "../../src/bootstrap/zone-owners.ts";
import { iamEngine } from "../rights/rights-engine.ts";

const { signal } = new AbortController();

/** An engine that has no relationships in the state that it answers with, unless it is asked for the newest. */
function outdated(engine: AuthorizationEngine): AuthorizationEngine {
  const readRelationships: AuthorizationEngine["readRelationships"] = async (...args) => {
    const page = await engine.readRelationships(...args);
    return args[2]?.newest === true ? page : { items: [], revision: page.revision };
  };
  return Object.assign(Object.create(engine), {
    readRelationships,
    writeRelationships: engine.writeRelationships.bind(engine),
  });
}

test("an owner whom another process has just made is seen, with the mark", async () => {
  await using engine = await iamEngine();
  expect(await new ZoneOwners(engine).makeFirstOwner("acme", "alice", signal, "a-link")).toBe(true);
  const owners = new ZoneOwners(outdated(engine));
  expect(await owners.makeFirstOwner("acme", "bob", signal, "another")).toBe(false);
  expect(await owners.hasOwner("acme", signal)).toBe(true);
  expect(await owners.hasOwner("acme", signal, "alice")).toBe(true);
  expect(await owners.hasMark("a-link", "alice", signal)).toBe(true);
  expect(await owners.hasMark("a-link", "bob", signal)).toBe(false);
  expect(await owners.hasMark("another", "bob", signal)).toBe(false);
  await owners.removeMark("a-link", "alice", signal);
  expect(await owners.hasMark("a-link", "alice", signal)).toBe(false);
  expect(await owners.hasOwner("acme", signal, "alice")).toBe(true);
});
