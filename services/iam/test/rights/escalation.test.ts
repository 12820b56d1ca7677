import { describe, expect, test } from "vitest";
import { runs } from "../../../../test/support/effort.ts";
import { Random } from "../support/random.ts";
import { type Held, PlainRights } from "./plain-rights.ts";
import { type Step, USERS, World } from "./world.ts";

const STEPS = 20;
/** Attempts at a step: most are refused. */
const ATTEMPTS = 2000;
const SEQUENCES = runs(1000, 25);

const textOf = ({ object, rank, user }: Held) => `${user} ${rank} of ${object.type}:${object.id}`;

/** What users hold after a step and did not before. */
function* gained(before: PlainRights, after: PlainRights, isAbove: boolean): Generator<Held> {
  const held = new Set([...before.ranked(USERS, isAbove)].map(textOf));
  for (const one of after.ranked(USERS, isAbove)) if (!held.has(textOf(one))) yield one;
}

/** What is wrong after a step. */
function problems(before: PlainRights, after: PlainRights, { caller }: Step): string[] {
  const found: string[] = [];
  for (const one of gained(before, after, false)) {
    const { object, rank, user } = one;
    // Whoever makes a group is its first owner.
    const isOwn = !before.has(object) && object.type === "group" && user === caller;
    if (!isOwn && !before.mayGrant(object, rank, caller)) found.push(textOf(one));
  }
  for (const one of gained(before, after, true)) {
    const { object, rank } = one;
    if (before.has(object) && !before.ranks(object, rank, caller)) {
      found.push(`${textOf(one)} or above`);
    }
  }
  return found;
}

describe("in sequences of permitted steps [IAM-6, IAM-7, IAM-8, IAM-10]", () => {
  const first = Date.now() % 1_000_000_000;

  test("nobody gets an owner or an admin that the caller could not have granted, and the zone keeps an owner", async () => {
    let permitted = 0;
    for (let at = 0; at < SEQUENCES; at++) {
      const seed = first + at;
      const world = await World.begin(new Random(seed));
      const steps: Step[] = [];
      let before = new PlainRights(await world.read());
      for (let attempt = 0; attempt < ATTEMPTS && steps.length < STEPS; attempt++) {
        const step = await world.step();
        if (step === undefined) continue;
        steps.push(step);
        const after = new PlainRights(await world.read());
        const zone = { type: "zone", id: "acme" };
        const isKept = USERS.some(
          (user) => !world.disabled.has(user) && after.holds(zone, "owner", user),
        );
        const found = [...problems(before, after, step), ...(isKept ? [] : ["no owner is left"])];
        expect(found, `seed ${seed}: ${JSON.stringify(steps.slice(-3))}`).toEqual([]);
        before = after;
      }
      permitted += steps.length;
      await world.engine.close();
    }
    expect(permitted).toBeGreaterThan(SEQUENCES * (STEPS - 1));
  });
});
