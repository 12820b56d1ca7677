/** Exclusive jobs: one process at a time, and once per interval in all of them together. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { migrate } from "../../../src/database/service/migrate.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import {
  JOB_MIGRATIONS,
  JobLease,
  LEASE_MS,
  type LeaseTables,
} from "../../../src/runtime/jobs/job-lease.ts";
import { onBoth } from "../../database/service/targets.ts";
import { SILENT } from "../../database/settings.ts";
import { startVault } from "../support/vault-server.ts";

const MINUTE = 60_000;

await onBoth("the lease of a job", ({ fresh }) => {
  async function replicas(count = 2) {
    const { database: settings } = await fresh();
    const databases: Database<LeaseTables>[] = [];
    for (let replica = 0; replica < count; replica++) {
      const database = await openDatabase<LeaseTables>(settings, { logger: SILENT });
      await migrate(database, JOB_MIGRATIONS);
      databases.push(database);
    }
    const [first] = databases as [Database<LeaseTables>];
    return {
      leases: databases.map((database) => new JobLease(database, "clean", MINUTE)) as [
        JobLease,
        JobLease,
      ],
      set: (values: string) => sql`update job_leases set ${sql.raw(values)}`.execute(first.kysely),
      close: async () => {
        for (const database of databases) await database.close();
      },
    };
  }

  test("is taken by one, and by the other when it was given back and a run is due", async () => {
    const { leases, close } = await replicas();
    const [first, second] = leases;
    expect(await first.take()).toBe(0);
    const waits = await second.take();
    expect(waits).toBeGreaterThan(LEASE_MS - 5000);
    expect(waits).toBeLessThanOrEqual(LEASE_MS);
    await first.giveBack(MINUTE);
    expect(await second.take()).toBeGreaterThan(50_000);
    expect(await first.take()).toBeGreaterThan(50_000);
    await close();
  });

  test("of many that ask at once one gets it", async () => {
    const { leases, close } = await replicas(6);
    const waits = await Promise.all(leases.map((lease) => lease.take()));
    expect(waits.filter((ms) => ms === 0)).toHaveLength(1);
    await close();
  });

  test("of a run that was cut off it is free at once", async () => {
    const { leases, close } = await replicas();
    expect(await leases[0].take()).toBe(0);
    await leases[0].giveBack(undefined);
    expect(await leases[1].take()).toBe(0);
    await close();
  });

  test("of a process that was killed it ends by itself, and the process cannot renew it", async () => {
    const { leases, set, close } = await replicas();
    expect(await leases[0].take()).toBe(0);
    expect(await leases[0].renew()).toBe(true);
    await set("expires = 1");
    expect(await leases[1].take()).toBe(0);
    expect(await leases[0].renew()).toBe(false);
    await leases[0].giveBack(MINUTE);
    expect(await leases[1].renew()).toBe(true);
    await close();
  });

  test.each(["expires = 9999999999999", "expires = 0, due = 9999999999999"])(
    "a time of a clock that was ahead (%s) stops nothing",
    async (values) => {
      const { leases, set, close } = await replicas();
      expect(await leases[0].take()).toBe(0);
      await leases[0].giveBack(undefined);
      await set(values);
      expect(await leases[1].take()).toBe(0);
      await close();
    },
  );

  test("of two servers one runs the job, and the other one after its stop", async () => {
    const config = await fresh();
    const ran: string[] = [];
    const start = (replica: string) =>
      startVault({
        // One process at a time has an embedded engine.
        security: { authz: { enabled: false } },
        config,
        jobs: [
          {
            name: "clean",
            every: "100ms",
            deadline: "1m",
            exclusive: true,
            run: (signal) => {
              ran.push(replica);
              return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
            },
          },
        ],
      });
    const servers = new Map([
      ["first", await start("first")],
      ["second", await start("second")],
    ]);
    await expect.poll(() => ran, { message: "the first run of the job" }).toHaveLength(1);
    const [running = ""] = ran;
    await servers.get(running)?.stop();
    await expect.poll(() => ran, { message: "the run of the other server" }).toHaveLength(2);
    expect(ran[1]).not.toBe(running);
    await servers.get(ran[1] ?? "")?.stop();
  });
});

test("jobs run while the server does, and have ended before onClose", async () => {
  const order: string[] = [];
  const vault = await startVault({
    jobs: [
      {
        name: "watch",
        every: "100ms",
        deadline: "1m",
        run: (signal) =>
          new Promise((resolve) => {
            order.push("begins");
            signal.addEventListener("abort", () => {
              order.push("ends");
              resolve();
            });
          }),
      },
    ],
    onClose: () => void order.push("onClose"),
  });
  await expect.poll(() => order, { message: "the job begins" }).toEqual(["begins"]);
  await vault.stop();
  expect(order).toEqual(["begins", "ends", "onClose"]);
});
