/** The embedded engine over a durable store: acknowledged writes survive a restart. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AuthzError } from "../../src/authz/engine/authz-error.ts";
import type { AuthorizationEngine } from "../../src/authz/engine/engine.ts";
import { openSqliteStore } from "../../src/authz/store/sqlite/open-sqlite-store.ts";
import type { Relationship } from "../../src/model/relationship.ts";
import { documentEngine, touchOf, views, writePair } from "./document-engine.ts";
import { nested, viewer } from "./documents.ts";
import { kill, startChild } from "./store/store-target.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-engine-"));
  file = join(folder, "relationships.db");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const openEngine = async () => documentEngine(await openSqliteStore({ file }));

function write(engine: AuthorizationEngine, ...relationships: Relationship[]) {
  return engine.writeRelationships({ updates: relationships.map(touchOf) });
}

test("a restart changes no decision, and revisions continue", async () => {
  const before = await openEngine();
  const { revision } = await write(before, viewer("a", "alice"), viewer("ä/ö", "bob@example.com"));
  await before.writeRelationships({
    updates: [{ operation: "DELETE", relationship: viewer("a", "alice") }],
  });
  await before.close();
  const after = await openEngine();
  expect(await views(after, "a", "alice")).toBe(false);
  expect(await views(after, "ä/ö", "bob@example.com")).toBe(true);
  // A token from before the restart is still valid for this store.
  await expect(
    after.check(
      {
        resource: { type: "document", id: "ä/ö" },
        permission: "view",
        subject: { type: "user", id: "bob@example.com" },
      },
      { atLeastAsFresh: revision },
    ),
  ).resolves.toMatchObject({ allowed: true });
  await after.close();
});

test("of concurrent writes that together close a cycle, one is refused and names it", async () => {
  const engine = await openEngine();
  for (let round = 0; round < 20; round++) {
    const [a, b, c] = ["a", "b", "c"].map((name) => `${name}${round}`) as [string, string, string];
    const outcomes = await Promise.allSettled([
      write(engine, nested(a, b)),
      write(engine, nested(b, c)),
      write(engine, nested(c, a)),
    ]);
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toHaveLength(1);
    const { code, message } = refused[0]?.reason as AuthzError;
    expect(code).toBe("FAILED_PRECONDITION");
    for (const group of [a, b, c]) expect(message).toContain(`group:${group}`);
  }
  await engine.close();
});

test("a second process on the same store is refused, and the error names the holder [ENG-5]", async () => {
  const engine = await openEngine();
  await expect(openEngine()).rejects.toThrow(`is held by process ${process.pid} on`);
  const child = startChild({ sqlite: { file } }, "hold");
  const { value } = await child.lines.next();
  await kill(child);
  expect(value).toMatch(/^error FAILED_PRECONDITION/);
  expect(value).toContain(`is held by process ${process.pid} on`);
  await engine.close();
});

test("closing under load keeps acknowledged writes and refuses the others", async () => {
  const engine = await openEngine();
  const acknowledged: string[] = [];
  const refused: unknown[] = [];
  const callers = Array.from({ length: 16 }, async (_, caller) => {
    for (let number = 0; refused.length < 16; number++) {
      const document = `c${caller}-n${number}`;
      await writePair(engine, document).then(
        () => acknowledged.push(document),
        (error: unknown) => refused.push(error),
      );
    }
  });
  await expect
    .poll(() => acknowledged.length, {
      message: "a hundred writes are acknowledged before the close",
    })
    .toBeGreaterThan(100);
  await engine.close();
  await Promise.all(callers);
  for (const error of refused) expect(error).toMatchObject({ code: "UNAVAILABLE" });
  const again = await openEngine();
  for (const document of acknowledged) {
    expect([document, await views(again, document, "left")]).toEqual([document, true]);
    expect([document, await views(again, document, "right")]).toEqual([document, true]);
  }
  await again.close();
});
