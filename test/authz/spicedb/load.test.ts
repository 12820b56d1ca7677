import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SpicedbEngine } from "../../../src/authz/spicedb/index.ts";
import { runs } from "../../support/effort.ts";
import { type SpicedbServer, startSpicedb } from "../../support/spicedb.ts";
import { until } from "../../support/until.ts";
import { engineOf, request, SCHEMA, updates } from "./fixture.ts";
import { Fact } from "./load-model.ts";
import { datastoreIsAbsent, openDatastore, type PostgresDatastore } from "./postgres-datastore.ts";

const WRITERS = 4;
const CHECKERS = 4;
const FACTS = 3;
/** The number of calls that each phase waits for. */
const CALLS = runs(120, 12);

/** The last write. */
const MARKER = "document:marker#viewer@user:x";
const textOf = (id: string) => `document:${id}#viewer@user:x`;

describe.skipIf(datastoreIsAbsent())(
  "SpiceDB on PostgreSQL, stopped and started under load",
  () => {
    let datastore: PostgresDatastore;
    let server: SpicedbServer;
    let engine: SpicedbEngine;
    beforeAll(async () => {
      datastore = await openDatastore();
      server = await startSpicedb({ postgresUrl: datastore.url });
      engine = await engineOf(server, SCHEMA, 3000);
      await engine.writeSchema(SCHEMA);
    });
    afterAll(async () => {
      await engine?.close();
      await server?.stop();
      await datastore?.remove();
    });

    test("loses no acknowledged write, makes no wrong decision, and recovers by itself", {
      timeout: 180_000,
    }, async () => {
      const facts = new Map<string, Fact>();
      const replayed = follow(engine, await engine.check(request(MARKER)));
      const wrong: unknown[] = [];
      const done = { writes: 0, checks: 0, failures: 0 };
      let stopped = false;

      const failed = (error: { code?: string }) => {
        done.failures++;
        if (error.code !== "UNAVAILABLE" && error.code !== "DEADLINE_EXCEEDED") wrong.push(error);
      };
      const writeOnce = async (id: string, fact: Fact) => {
        const value = !fact.value;
        const list = updates(value ? "TOUCH" : "DELETE", textOf(id));
        await fact.write(value, () => engine.writeRelationships({ updates: list }));
        done.writes++;
        // The writer sees its own writes.
        await checkOnce(id, fact);
      };
      const checkOnce = async (id: string, fact: Fact) => {
        const asked = request(`document:${id}#view@user:x`);
        const possible = await fact.check(async () => (await engine.check(asked)).allowed);
        if (!possible) wrong.push(`${id} is not ${fact.value}`);
        done.checks++;
      };
      const writer = async (number: number) => {
        for (let next = 0; !stopped; next++) {
          const own = [...facts].filter(
            ([id, { inDoubt }]) => id.startsWith(`w${number}-`) && !inDoubt,
          );
          if (own.length < FACTS) facts.set(`w${number}-${next}`, new Fact(false));
          const [id, fact] = own[next % FACTS] ?? [];
          if (id !== undefined && fact !== undefined) await writeOnce(id, fact).catch(failed);
        }
      };
      const checker = async (number: number) => {
        for (let next = number; !stopped; next++) {
          const all = [...facts];
          const [id, fact] = all[next % (all.length || 1)] ?? [];
          if (id === undefined || fact === undefined) await sleep(1);
          else await checkOnce(id, fact).catch(failed);
        }
      };
      const work = Promise.all([
        ...Array.from({ length: WRITERS }, (_, number) => writer(number)),
        ...Array.from({ length: CHECKERS }, (_, number) => checker(number)),
      ]);
      const untilDone = (what: keyof typeof done, more: number) => {
        const goal = done[what] + more;
        return until(`${goal} ${what}`, () => done[what] >= goal || wrong.length > 0);
      };

      try {
        await untilDone("writes", CALLS);
        for (const signal of ["SIGKILL", "SIGTERM"] as const) {
          await server.stop(signal);
          await untilDone("failures", WRITERS + CHECKERS);
          await expect
            .poll(() => engine.ready(), {
              message: "the engine reports that SpiceDB is unavailable",
            })
            .toMatchObject({
              ready: false,
              reason: expect.stringContaining("SpiceDB"),
            });
          await server.start();
          await untilDone("writes", CALLS);
          await untilDone("checks", CALLS);
          expect(wrong).toEqual([]);
          await expect
            .poll(() => engine.ready(), { message: "the engine is ready again" })
            .toEqual({ ready: true });
        }
      } finally {
        stopped = true;
        await work;
      }
      expect(wrong).toEqual([]);

      const stored = new Set<string>();
      for (let cursor: string | undefined = ""; cursor !== undefined; ) {
        const page = cursor === "" ? {} : { cursor };
        const { items, nextCursor } = await engine.readRelationships(
          { resourceType: "document" },
          page,
          // A write whose outcome was not known is seen by the watch, and not by a read of an older state.
          { newest: true },
        );
        for (const { resource } of items) stored.add(resource.id);
        cursor = nextCursor;
      }
      await engine.writeRelationships({ updates: updates("TOUCH", MARKER) });
      expect(await replayed).toEqual(stored);

      const lost = [...facts].filter(([id, fact]) => !fact.allows(stored.has(id)));
      expect(lost).toEqual([]);
      expect(facts.size).toBeGreaterThan(WRITERS);
      console.info(`under load: ${JSON.stringify(done)}, ${facts.size} facts`);
    });
  },
);

/** The changes of a watch from a revision to the marker, across interruptions. */
async function follow(engine: SpicedbEngine, { revision }: { revision: string }) {
  const stored = new Set<string>();
  for (let from = revision; ; ) {
    try {
      for await (const { revision, updates } of engine.watch(from)) {
        from = revision;
        for (const { operation, relationship } of updates) {
          const { id } = relationship.resource;
          if (id === "marker") return stored;
          if (operation === "DELETE") stored.delete(id);
          else stored.add(id);
        }
      }
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/UNAVAILABLE|DEADLINE/) });
      await sleep(20);
    }
  }
}
