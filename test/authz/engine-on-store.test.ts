/** The embedded engine over a durable store: what it acknowledged, it still knows. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AuthzError } from "../../src/authz/authz-error.ts";
import { createEmbeddedEngine } from "../../src/authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../src/authz/engine.ts";
import type { Relationship } from "../../src/authz/relationship.ts";
import { openSqliteStore } from "../../src/authz/store/open-sqlite-store.ts";
import { parseModel } from "../../src/model/index.ts";
import { nested, SCHEMA, viewer } from "./documents.ts";

/** How often the writing process is killed; the 50 in a long run. */
const KILLS = Number(process.env["SVC_ACCESS_KILLS"] ?? 5);

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-engine-"));
  file = join(folder, "relationships.db");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function openEngine(): Promise<AuthorizationEngine> {
  const { model } = parseModel(SCHEMA, "documents.zed");
  return createEmbeddedEngine({ model, store: await openSqliteStore({ file }) });
}

function write(engine: AuthorizationEngine, ...relationships: Relationship[]) {
  return engine.writeRelationships({
    updates: relationships.map((relationship) => ({ operation: "TOUCH" as const, relationship })),
  });
}

function check(engine: AuthorizationEngine, document: string, user: string) {
  return engine.check({
    resource: { type: "document", id: document },
    permission: "view",
    subject: { type: "user", id: user },
  });
}

test("a restart changes no answer, and revisions go on", async () => {
  const before = await openEngine();
  const { revision } = await write(before, viewer("a", "alice"), viewer("ä/ö", "bob@example.com"));
  await before.writeRelationships({
    updates: [{ operation: "DELETE", relationship: viewer("a", "alice") }],
  });
  await before.close();
  const after = await openEngine();
  expect((await check(after, "a", "alice")).allowed).toBe(false);
  expect((await check(after, "ä/ö", "bob@example.com")).allowed).toBe(true);
  // A token of before the restart is still one of this store.
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

test("of concurrent writes that close a cycle together, one is refused and names it", async () => {
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

test(`nothing acknowledged is lost when the process is killed ${KILLS} times in a write load`, async () => {
  let next = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const script = fileURLToPath(new URL("child-engine.ts", import.meta.url));
    const child = spawn(process.execPath, [script, file, String(next)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let acknowledged = -1;
    const ended = once(child, "exit");
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === "open") setTimeout(() => child.kill("SIGKILL"), 20 + Math.random() * 150);
      else acknowledged = Number(line);
    }
    await ended;
    const engine = await openEngine();
    for (let number = 0; number <= acknowledged; number++) {
      const [left, right] = await Promise.all([
        check(engine, `d${number}`, "left"),
        check(engine, `d${number}`, "right"),
      ]);
      expect([number, left.allowed, right.allowed]).toEqual([number, true, true]);
    }
    // What was not acknowledged is there whole or not at all.
    const last = `d${acknowledged + 1}`;
    expect((await check(engine, last, "left")).allowed).toBe(
      (await check(engine, last, "right")).allowed,
    );
    await engine.close();
    next = Math.max(next, acknowledged + 1);
  }
  expect(next).toBeGreaterThan(KILLS);
});
