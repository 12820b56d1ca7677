/**
 * Minutes of mixed load on two replicas behind a balancer, of which one is killed each minute:
 * `SOAK_MINUTES=10 npx vitest run services/iam/test/resilience/soak.test.ts`. Shorter tests beside this one kill
 * replicas in CI; this one is run before a release.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { asUser } from "../support/iam-service.ts";
import { underLoad } from "./load.ts";
import { onPlatform, startPlatform } from "./platform.ts";
import { pathOf, RecordWorker } from "./record-worker.ts";
import type { Replica } from "./replica.ts";
import { expectWhole, settle } from "./whole-records.ts";

const MINUTE = 60_000;
const WORKERS = 3;
/** How much more memory a replica may have at the end of a life than at the end of its second one. */
const MOST_GROWTH = 1.25;

const minutes = Number(process.env["SOAK_MINUTES"] ?? 0);
const platform = minutes > 0 ? await startPlatform({ isSpicedbDurable: true }) : undefined;
afterAll(() => platform?.stop());

onPlatform("minutes of load, and a kill in each", platform, (platform) => {
  const { replicas } = platform;
  test(
    "lose nothing that was acknowledged, log nobody out, and need no more memory",
    async () => {
      const owner = await platform.addUser("owner");
      await platform.makeOwner(owner);
      const workers: RecordWorker[] = [];
      for (let worker = 0; worker < WORKERS; worker++) {
        const member = await platform.addUser(`member-${worker}`);
        workers.push(new RecordWorker(replicas, `worker-${worker}`, owner, member));
      }
      const memory = new Map<Replica, number[]>(replicas.map((replica) => [replica, []]));
      let isOver = false;
      const working = Promise.all(workers.map((worker) => worker.act(() => isOver)));
      await underLoad(platform, async (more) => {
        for (let minute = 0; minute < minutes; minute++) {
          await sleep(MINUTE);
          const replica = replicas[minute % 2] as Replica;
          memory.get(replica)?.push(Math.round(replica.residentMib));
          await replica.kill();
          await more(20);
          await replica.start();
        }
      });
      isOver = true;
      await working;
      const lives = [...memory.values()];
      const calls = workers.reduce((sum, { succeeded }) => sum + succeeded, 0);
      console.info(
        `resident MiB at the end of each life: ${JSON.stringify(lives)}; ${calls} changes`,
      );

      expect(workers.flatMap(({ wrong }) => wrong)).toEqual([]);
      await settle(platform.databaseUrl);
      for (const record of workers.flatMap(({ records }) => records)) {
        const { status } = await platform.call("GET", pathOf(record), undefined, asUser(owner));
        if (record.state === "there") expect(status).toBe(200);
        if (record.state === "deleted") expect(status).toBeOneOf([403, 404]);
      }
      await expectWhole(platform);
      // The first life of one of them is shorter than all others.
      for (const [, first = 0, ...later] of lives) {
        for (const one of later) expect(one).toBeLessThan(MOST_GROWTH * first);
      }
    },
    (minutes + 10) * MINUTE,
  );
});
