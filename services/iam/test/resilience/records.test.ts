/**
 * Groups and users that are made and deleted at two replicas while these are killed, and PostgreSQL and
 * SpiceDB are stopped and started: each record and its relationships come and go together.
 */
import { afterAll, expect, test } from "vitest";
import { IS_THOROUGH } from "../../../../test/support/effort.ts";
import { PATIENCE } from "../../../../test/support/patience.ts";
import { until } from "../../../../test/support/until.ts";
import { asUser } from "../support/iam-service.ts";
import { onPlatform, type Stoppable, startPlatform } from "./platform.ts";
import { pathOf, RecordWorker } from "./record-worker.ts";
import type { Replica } from "./replica.ts";
import { expectWhole, settle } from "./whole-records.ts";

const ROUNDS = 2;
const WORKERS = 4;
/** How many responses of both kinds a round has: calls that succeed, and calls that fail. */
const EACH = 25;

// Each interruption is tried in the tests of its part, in a process.
const platform = IS_THOROUGH ? await startPlatform({ isSpicedbDurable: true }) : undefined;
afterAll(() => platform?.stop());

onPlatform("records and their relationships", platform, (platform) => {
  const { replicas, databaseUrl, servers } = platform;
  const [first, second] = replicas;
  const processOf = (replica: Replica): Stoppable => ({
    stop: () => replica.kill(),
    start: () => replica.start(),
  });
  const mishaps: Readonly<Record<string, Stoppable>> = {
    "a replica is killed": processOf(first),
    "PostgreSQL is stopped": servers.postgres,
    "the other replica is killed": processOf(second),
    "SpiceDB is stopped": servers.spicedb,
  };

  test(
    "come and go together, whatever is interrupted [IAM-13]",
    async () => {
      const owner = await platform.addUser("owner");
      await platform.makeOwner(owner);
      const workers: RecordWorker[] = [];
      for (let worker = 0; worker < WORKERS; worker++) {
        const member = await platform.addUser(`member-${worker}`);
        workers.push(new RecordWorker(replicas, `worker-${worker}`, owner, member));
      }
      let isOver = false;
      const working = Promise.all(workers.map((worker) => worker.act(() => isOver)));
      const count = (key: "succeeded" | "failed") =>
        workers.reduce((sum, worker) => sum + worker[key], 0);
      const more = (key: "succeeded" | "failed", number = EACH) => {
        const enough = count(key) + number;
        return until(`${number} calls ${key}`, () => count(key) >= enough);
      };
      for (let round = 0; round < ROUNDS; round++) {
        for (const [name, server] of Object.entries(mishaps)) {
          await more("succeeded");
          await server.stop();
          await until(`calls fail while ${name}`, () => more("failed", 5).then(() => true));
          await server.start();
        }
      }
      await more("succeeded");
      isOver = true;
      await working;
      expect(workers.flatMap(({ wrong }) => wrong)).toEqual([]);

      await settle(databaseUrl);
      const records = workers.flatMap(({ records }) => records);
      expect(records.filter(({ state }) => state === "deleted").length).toBeGreaterThan(0);
      for (const record of records) {
        const { status } = await platform.call("GET", pathOf(record), undefined, asUser(owner));
        if (record.state === "there") expect(status).toBe(200);
        if (record.state === "deleted") expect(status).toBeOneOf([403, 404]);
      }
      await expectWhole(platform);
    },
    6 * PATIENCE,
  );
});
