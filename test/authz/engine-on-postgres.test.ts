/** The embedded engine over a PostgreSQL server that stops, and a lock that is lost. */
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { expect, test } from "vitest";
import type { AuthorizationEngine } from "../../src/authz/engine/engine.ts";
import { openPostgresStore } from "../../src/authz/store/postgres/open-postgres-store.ts";
import { documentEngine, viewersOf, views, writePair } from "./document-engine.ts";
import { onPostgres } from "./on-postgres.ts";
import { kill, openSoon, startChild } from "./store/store-target.ts";

const UNAVAILABLE = { code: "UNAVAILABLE" };

await onPostgres("an engine over PostgreSQL", ({ url, query, stop, start }) => {
  const fresh = () => {
    const schema = `engine_${randomUUID()}`;
    return { connection: { connectionString: url, application_name: schema }, schema };
  };
  const open = async (options: ReturnType<typeof fresh>) =>
    documentEngine(await openPostgresStore(options));
  /** Ends the connections of an engine, as a broken network does. */
  const cut = (schema: string) =>
    query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = '${schema}'`);
  const readiness = async (engine: AuthorizationEngine) => (await engine.ready()).ready;

  test.skipIf(start === undefined)(
    "a restart of the server under load loses nothing, and writes resume by themselves",
    async () => {
      const options = fresh();
      const engine = await open(options);
      const load = startLoad(engine);
      for (let restart = 0; restart < 3; restart++) {
        const { length } = load.acknowledged;
        await expect
          .poll(() => load.acknowledged.length, {
            message: "fifty writes are acknowledged before the restart",
          })
          .toBeGreaterThan(length + 50);
        const refused = load.refused.length;
        stop?.();
        await expect
          .poll(() => load.refused.length, { message: "ten writes are refused during the outage" })
          .toBeGreaterThan(refused + 10);
        expect(await engine.ready()).toMatchObject({ ready: false, reason: /./ });
        const [last = ""] = load.acknowledged.slice(-1);
        expect(await views(engine, last, "left")).toBe(true);
        start?.();
        await expect
          .poll(() => readiness(engine), { message: "the engine is ready again" })
          .toBe(true);
        const resumed = load.acknowledged.length;
        await expect
          .poll(() => load.acknowledged.length, {
            message: "fifty writes are acknowledged after the restart",
          })
          .toBeGreaterThan(resumed + 50);
      }
      await load.end();
      expect(load.wrong).toEqual([]);
      for (const error of load.refused) expect(error).toMatchObject(UNAVAILABLE);
      const viewers = await viewersOf(engine);
      await engine.close();
      const again = await open(options);
      // Its answers match the store: every acknowledged write, and no half of a pair.
      expect(await viewersOf(again)).toEqual(viewers);
      for (const document of load.acknowledged) expect(viewers).toContain(`${document}@left`);
      for (const user of viewers) {
        expect(viewers).toContain(user.replace(/@.*/, user.endsWith("left") ? "@right" : "@left"));
      }
      await again.close();
    },
  );

  test.skipIf(start === undefined)(
    "a failed recovery is retried, and succeeds once the server is back",
    async () => {
      const engine = await open(fresh());
      await writePair(engine, "before");
      stop?.();
      for (let attempt = 0; attempt < 3; attempt++) {
        await expect(writePair(engine, `lost-${attempt}`)).rejects.toMatchObject(UNAVAILABLE);
        expect(await readiness(engine)).toBe(false);
        expect(await views(engine, "before", "left")).toBe(true);
      }
      start?.();
      await writePair(engine, "after");
      expect(await readiness(engine)).toBe(true);
      const all = ["before", "after"].flatMap((id) => [`${id}@left`, `${id}@right`]);
      expect(await viewersOf(engine)).toEqual(new Set(all));
      await engine.close();
    },
  );

  test("an engine without writes detects that it lost the lock", async () => {
    const options = fresh();
    const engine = await open(options);
    await writePair(engine, "before");
    const other = await waitForLock(options.schema);
    await cut(options.schema);
    await other.taken;
    await expect
      .poll(() => views(engine, "before", "left").catch((error: unknown) => error), {
        message: "the engine detects that it lost the lock",
      })
      .toMatchObject(UNAVAILABLE);
    await expect(writePair(engine, "after")).rejects.toMatchObject(UNAVAILABLE);
    const { ready, reason } = await engine.ready();
    expect(ready).toBe(false);
    expect(reason).toMatch(/this process no longer owns/);
    await other.client.end();
    const child = startChild({ postgres: options }, "hold");
    expect(await child.lines.next()).toMatchObject({ value: "open 1" });
    // The other holder may have written, so a lock that is free again changes nothing.
    await kill(child);
    await expect(views(engine, "before", "left")).rejects.toMatchObject(UNAVAILABLE);
    await expect(writePair(engine, "after")).rejects.toMatchObject(UNAVAILABLE);
    await engine.close();
    const store = await openSoon({ postgres: options });
    const again = await documentEngine(store);
    expect(await viewersOf(again)).toEqual(new Set(["before@left", "before@right"]));
    await again.close();
  });

  /** Waits for the lock of a store on its server, so that its holder does not get it back first. */
  async function waitForLock(schema: string) {
    const [lock] = await query(`select (classid::bigint << 32) | objid::bigint as key
      from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and application_name = '${schema}'`);
    const client = new Client({ connectionString: url });
    await client.connect();
    const taken = client.query("select pg_advisory_lock($1)", [lock?.["key"]]);
    await expect
      .poll(() => query("select 1 from pg_locks where locktype = 'advisory' and not granted"), {
        message: "the second engine waits for the lock",
      })
      .toHaveLength(1);
    return { client, taken };
  }

  test("a second process on the same store is refused, and the error names the holder", async () => {
    const options = fresh();
    const engine = await open(options);
    const child = startChild({ postgres: options }, "hold");
    const { value } = await child.lines.next();
    await kill(child);
    expect(value).toMatch(/^error FAILED_PRECONDITION/);
    expect(value).toContain(`is held by process ${process.pid} on`);
    await writePair(engine, "d");
    await engine.close();
  });

  test("closing under load keeps acknowledged writes and refuses the others", async () => {
    const options = fresh();
    const engine = await open(options);
    const load = startLoad(engine);
    await expect
      .poll(() => load.acknowledged.length, {
        message: "a hundred writes are acknowledged before the close",
      })
      .toBeGreaterThan(100);
    await engine.close();
    await expect
      .poll(() => load.refused.length, { message: "twenty writes are refused after the close" })
      .toBeGreaterThan(20);
    await load.end();
    for (const error of load.refused) expect(error).toMatchObject(UNAVAILABLE);
    const again = await open(options);
    const all = load.acknowledged.flatMap((id) => [`${id}@left`, `${id}@right`]);
    expect(await viewersOf(again)).toEqual(new Set(all));
    await again.close();
  });
});

/** Writes and reads with 16 concurrent callers, until `end`. */
function startLoad(engine: AuthorizationEngine) {
  const acknowledged: string[] = [];
  const refused: unknown[] = [];
  const wrong: string[] = [];
  let ended = false;
  const callers = Array.from({ length: 16 }, async (_, caller) => {
    for (let number = 0; !ended; number++) {
      const document = `c${caller}-n${number}`;
      try {
        await writePair(engine, document);
      } catch (error) {
        refused.push(error);
        await new Promise((resolve) => setTimeout(resolve, 5));
        continue;
      }
      acknowledged.push(document);
      const read = acknowledged[Math.floor(Math.random() * acknowledged.length)] ?? document;
      const [left, never] = [views(engine, read, "left"), views(engine, read, "nobody")];
      if (!(await left.catch(() => true))) wrong.push(`${read}@left is denied`);
      if (await never.catch(() => false)) wrong.push(`${read}@nobody is allowed`);
    }
  });
  const end = async () => {
    ended = true;
    await Promise.all(callers);
  };
  return { acknowledged, refused, wrong, end };
}
