/**
 * Minutes of mixed load on two replicas, of which the same one is killed each minute; the other one lives all the time:
 * `SOAK_MINUTES=10 npx vitest run services/iam/test/resilience/soak.test.ts`. Shorter tests beside this one kill
 * replicas in CI; this one is run before a release (docs/contributing.md).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { asUser } from "../support/iam-service.ts";
import { underLoad } from "./load.ts";
import { Checker, FactorPerson } from "./mixed-load.ts";
import { onPlatform, startPlatform } from "./platform.ts";
import { pathOf, RecordWorker } from "./record-worker.ts";
import { expectWhole, settle } from "./whole-records.ts";

const MINUTE = 60_000;
const WORKERS = 2;
const FACTOR_PEOPLE = 6;
/**
 * How much more memory the replica that lives may have in the last third than in the middle one. In the first one
 * caches fill and code is compiled, which takes longer on a busy machine.
 */
const MOST_GROWTH = 1.1;
const SAMPLE_MS = 500;

const minutes = Number(process.env["SOAK_MINUTES"] ?? 0);
const platform =
  minutes > 0
    ? await startPlatform({
        isSpicedbDurable: true,
        hasEtcd: true,
        heapMib: 256,
        iam: { services: { hub: { may_exchange_tokens: true, read_types: ["*"] } } },
      })
    : undefined;
afterAll(() => platform?.stop());

onPlatform("minutes of load, and a kill in each", platform, (platform) => {
  const [lasting, killed] = platform.replicas;
  test(
    "lose nothing that was acknowledged, log nobody out, and need no more memory",
    async () => {
      const owner = await platform.addUser("owner");
      await platform.makeOwner(owner);
      const stranger = await platform.addUser("stranger");
      const workers: RecordWorker[] = [];
      for (let worker = 0; worker < WORKERS; worker++) {
        const member = await platform.addUser(`member-${worker}`);
        workers.push(new RecordWorker(platform.replicas, `worker-${worker}`, owner, member));
      }
      const people: FactorPerson[] = [];
      for (let index = 0; index < FACTOR_PEOPLE; index++) {
        const username = `factor-${index}`;
        await platform.addUser(username);
        const person = new FactorPerson(platform, username);
        await person.enroll();
        people.push(person);
      }
      const checker = new Checker(platform.replicas, owner, stranger);
      let isOver = false;
      const actors = [...workers, ...people, checker];
      const working = Promise.all(actors.map((actor) => actor.act(() => isOver)));
      // What is refused ends the test at once.
      const memory = await Promise.race([
        underLoadWithKills(),
        working.then(() => expect.fail("the load ended too early")),
      ]);
      isOver = true;
      await working;
      const calls = workers.reduce((sum, { succeeded }) => sum + succeeded, 0);
      const logins = people.reduce((sum, person) => sum + person.logins, 0);
      console.info(
        `resident MiB: ${memory.warm} when warm, ${memory.end} at the end; the least of each minute: ` +
          `${memory.minutes.join(" ")}; ${calls} changes, ${logins} logins with a code, ` +
          `${checker.calls} checks and reads`,
      );

      expect([...workers, checker].flatMap(({ wrong }) => wrong)).toEqual([]);
      expect(Math.min(calls, logins, checker.calls)).toBeGreaterThan(0);
      for (const person of people) await person.look();
      await settle(platform.databaseUrl);
      for (const record of workers.flatMap(({ records }) => records)) {
        const { status } = await platform.call("GET", pathOf(record), undefined, asUser(owner));
        if (record.state === "there") expect(status).toBe(200);
        if (record.state === "deleted") expect(status).toBeOneOf([403, 404]);
      }
      await expectWhole(platform);
      expect(memory.end).toBeLessThanOrEqual(MOST_GROWTH * memory.warm);
    },
    (minutes + 10) * MINUTE,
  );

  /** Kills one of them each minute. @returns the memory of the other one, in MiB */
  async function underLoadWithKills() {
    const samples: number[] = [];
    const sampling = setInterval(() => samples.push(lasting.residentMib), SAMPLE_MS);
    try {
      await underLoad(platform, async ({ more }) => {
        for (let minute = 0; minute < minutes; minute++) {
          await sleep(MINUTE);
          await killed.kill();
          await more(20);
          await killed.start();
        }
      });
    } finally {
      clearInterval(sampling);
    }
    // It goes up until garbage is collected: what it always needs is the least of a longer time.
    const part = Math.floor(samples.length / 3);
    return {
      warm: least(samples.slice(part, 2 * part)),
      end: least(samples.slice(-part)),
      minutes: byMinute(samples),
    };
  }
});

function byMinute(samples: readonly number[]): readonly number[] {
  const size = MINUTE / SAMPLE_MS;
  const count = Math.ceil(samples.length / size);
  return Array.from({ length: count }, (_, minute) =>
    least(samples.slice(minute * size, (minute + 1) * size)),
  );
}

function least(values: readonly number[]): number {
  return Math.round(Math.min(...values));
}
