/** People who log in by links at the same moment, and processes that end at each of their steps. */
import type { AuditRecord } from "svc-access/runtime";
import type { TestEngine } from "svc-access/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pending } from "../../../../test/support/pending.ts";
import {
  type BootstrapLink,
  BootstrapLinks,
  LINK_LIFE_MS,
} from "../../src/bootstrap/bootstrap-links.ts";
import { FirstOwner } from "../../src/bootstrap/first-owner.ts";
import { LinkClaims } from "../../src/bootstrap/link-claims.ts";
import { UsedLinks } from "../../src/bootstrap/used-links.ts";
import { ZoneOwners } from "../../src/bootstrap/zone-owners.ts";
import type { BootstrapTables } from "../../src/ground/store/bootstrap-tables.ts";
import { iamEngine, write } from "../rights/rights-engine.ts";
import { stackDatabase } from "../support/databases.ts";

const { signal } = new AbortController();

let engine: TestEngine;
let links: BootstrapLinks;
let claims: LinkClaims;
beforeAll(async () => {
  const { kysely } = (await stackDatabase()).open().as<BootstrapTables>();
  links = new BootstrapLinks(kysely);
  claims = new LinkClaims(kysely);
  engine = await iamEngine();
});
afterAll(() => engine.close());

/** A new zone for each case, so that no case sees the links of another. */
let zone: string;
let zones = 0;
/** The owners that the audit has. */
let recorded: unknown[];
function begin(): void {
  zone = `zone-${++zones}`;
  recorded = [];
}
beforeEach(begin);

const become = (id: string) => write(engine, `zone:${zone}#owner@user:${id}`);
const lose = (id: string) => write(engine, `-zone:${zone}#owner@user:${id}`);
async function owners(of = zone): Promise<string[]> {
  const filter = { resourceType: "zone", resourceId: of, relation: "owner" };
  const { items } = await engine.readRelationships(filter);
  return items.map(({ subject }) => subject.id);
}

/** Something between the steps of a process. */
type Between = (steps: number) => Promise<void> | void;
const nothing: Between = () => undefined;
const killedAfter =
  (most: number): Between =>
  (steps) => {
    if (steps >= most) throw new Error("the process was killed");
  };

/** A process of its own. Each call of the database, the engine and the audit is a step. */
function replica(between: Between = nothing) {
  let steps = 0;
  const stepwise = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const value = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]) => {
          await between(steps);
          const result = await value.apply(target, args);
          steps++;
          return result;
        };
      },
    });
  const audit = stepwise({
    record: async ({ details }: AuditRecord) => void recorded.push(details?.["owner"]),
  });
  const owner = new FirstOwner({
    links: stepwise(links),
    claims: stepwise(claims),
    owners: stepwise(new ZoneOwners(engine)),
    used: new UsedLinks(),
    recorder: audit,
  });
  return {
    steps: () => steps,
    resume: (now?: number) => owner.resume(signal, now),
    make: (link: BootstrapLink, userId: string) => owner.make(link, userId, { signal, audit }),
  };
}

/** A link as several logins have found it at the same moment, before any of them has gone on. */
async function newLink() {
  const { token } = await links.make(zone);
  const link = (await links.find(token)) ?? expect.fail();
  const mark = `bootstrap-link/${link.hash}`;
  return {
    link,
    isAlive: async () => (await links.find(token)) !== undefined,
    isMarked: async () => (await owners(mark)).length > 0,
  };
}
type NewLink = Awaited<ReturnType<typeof newLink>>;

/** Whether it is the error of a process that was killed. */
const killed = (error: Error) => expect(error.message).toBe("the process was killed");

/** How many steps a login has that nothing disturbs. */
async function stepsOfLogin(): Promise<number> {
  const one = replica();
  expect(await one.make((await newLink()).link, "alice")).toBe("made");
  begin();
  return one.steps();
}

/** What must be after all logins and the job: nothing is lost, and no link makes an owner again. */
async function expectRecorded(what: string, ...used: readonly NewLink[]): Promise<void> {
  await replica().resume();
  await replica().resume();
  expect(await owners(), what).toEqual(["alice"]);
  // Twice only where a process ended after it had stored the event.
  expect([["user:alice"], ["user:alice", "user:alice"]], what).toContainEqual(recorded);
  await lose("alice");
  for (const { link, isMarked } of used) {
    expect([await replica().make(link, "alice"), await isMarked()], what).toEqual(["dead", false]);
  }
}

describe("a process that is killed after any of its steps", () => {
  test("loses nothing if the same person logs in again, or the job continues", async () => {
    const most = await stepsOfLogin();
    expect(most).toBeGreaterThan(5);
    for (const again of [true, false]) {
      // After the first step the link is claimed, and after the second the owner is made.
      for (let steps = again ? 0 : 2; steps < most; steps++) {
        begin();
        const made = await newLink();
        await replica(killedAfter(steps)).make(made.link, "alice").catch(killed);
        if (again) await replica().make(made.link, "alice");
        await expectRecorded(`killed after ${steps}`, made);
      }
    }
  });

  test("loses nothing if that is the job", async () => {
    for (let steps = 0; steps < 20; steps++) {
      begin();
      const made = await newLink();
      await replica(killedAfter(2)).make(made.link, "alice").catch(killed);
      await replica(killedAfter(steps)).resume().catch(killed);
      await expectRecorded(`killed after ${steps}`, made);
    }
  });

  test.each([
    ["link", false],
    ["links of their own", true],
  ])(
    "loses nothing if the same person logs in at the same moment, by the same %s",
    async (_, isOwn) => {
      const most = await stepsOfLogin();
      for (let waiting = 0; waiting <= most; waiting++) {
        for (let steps = 0; steps <= most; steps++) {
          begin();
          const first = await newLink();
          const second = isOwn ? await newLink() : first;
          const [reached, proceed] = [pending(), pending()];
          const slow = replica((at) => {
            if (at < waiting) return;
            reached.resolve();
            return proceed.promise;
          }).make(second.link, "alice");
          await Promise.race([reached.promise, slow]);
          await replica(killedAfter(steps)).make(first.link, "alice").catch(killed);
          proceed.resolve();
          await slow;
          await expectRecorded(`${waiting} steps, killed after ${steps}`, first, second);
        }
      }
    },
  );
});

describe("two logins by one link", () => {
  test("at once make the owner, which is recorded once", async () => {
    const made = await newLink();
    const one = replica();
    const outcomes = await Promise.all([
      one.make(made.link, "alice"),
      one.make(made.link, "alice"),
    ]);
    expect(outcomes).toContain("made");
    await one.resume();
    expect(recorded).toEqual(["user:alice"]);
    await expectRecorded("at once", made);
  });

  test("of two people make the first one the owner", async () => {
    const made = await newLink();
    expect(await replica().make(made.link, "alice")).toBe("made");
    expect(await replica().make(made.link, "bob")).toBe("owned");
    await expectRecorded("of two people", made);
  });
});

test("logins of one person by two links at once record the owner once, and both links end", async () => {
  const made = [await newLink(), await newLink()] as const;
  const outcomes = await Promise.all(made.map(({ link }) => replica().make(link, "alice")));
  expect(outcomes.toSorted()).toEqual(["made", "owned"]);
  expect(recorded).toEqual(["user:alice"]);
  await expectRecorded("at once", ...made);
});

test("a person who is made the owner again by a later link is recorded again", async () => {
  expect(await replica().make((await newLink()).link, "alice")).toBe("made");
  await lose("alice");
  const { link } = await newLink();
  await replica(killedAfter(2)).make(link, "alice").catch(killed);
  expect(recorded).toEqual(["user:alice"]);
  expect(await replica().make(link, "alice")).toBe("made");
  expect(recorded).toEqual(["user:alice", "user:alice"]);
});

describe("a person who is made the owner otherwise is not recorded", () => {
  const otherwise: [string, () => Promise<unknown>][] = [
    ["by a grant", () => become("alice")],
    [
      "by the owner whom another link has made",
      async () => {
        expect(await replica().make((await newLink()).link, "bob")).toBe("made");
        await become("alice");
      },
    ],
  ];
  const ofAlice = () => recorded.filter((one) => one === "user:alice");

  test.each(otherwise)("%s before a login by a link", async (_, change) => {
    const { link } = await newLink();
    await change();
    expect(await replica().make(link, "alice")).toBe("owned");
    await replica().resume();
    expect(ofAlice()).toEqual([]);
  });

  test.each(otherwise)(
    "%s after a process was killed that had made nobody the owner",
    async (_, change) => {
      const { link, isAlive } = await newLink();
      await replica(killedAfter(1)).make(link, "alice").catch(killed);
      await change();
      await replica().resume();
      await replica().make(link, "alice");
      expect([ofAlice(), await isAlive()]).toEqual([[], false]);
    },
  );

  test("by a link that has ended", async () => {
    expect(await replica().make((await newLink()).link, "alice")).toBe("made");
    recorded = [];
    const { link, isAlive } = await newLink();
    expect(await replica().make(link, "alice")).toBe("owned");
    await replica().resume();
    expect([recorded, await isAlive()]).toEqual([[], false]);
  });
});

test("a link that somebody has logged in by, and that has made nobody the owner, ends", async () => {
  const { link } = await newLink();
  await replica(killedAfter(1)).make(link, "alice").catch(killed);
  await replica().resume(Date.now() + 2 * LINK_LIFE_MS);
  expect(await replica().make(link, "alice")).toBe("dead");
  expect([await owners(), recorded]).toEqual([[], []]);
});

test("nobody uses another link of the zone after the first, also when it has lost its owner", async () => {
  const [one, other, begun] = [await newLink(), await newLink(), await newLink()];
  await replica(killedAfter(1)).make(begun.link, "bob").catch(killed);
  expect(await replica().make(one.link, "alice")).toBe("made");
  expect(await replica().make(other.link, "alice")).toBe("owned");
  await lose("alice");
  expect(await replica().make(other.link, "alice")).toBe("dead");
  expect(await replica().make(begun.link, "bob")).toBe("dead");
  expect([await owners(), recorded]).toEqual([[], ["user:alice"]]);
});

test("who opens another link of the zone after the first sees that the zone has an owner", async () => {
  const [one, other] = [await newLink(), await newLink()];
  expect(await replica().make(one.link, "alice")).toBe("made");
  expect(await other.isAlive()).toBe(true);
});
