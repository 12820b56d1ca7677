/** Random sequences of permitted changes. */
import { Random } from "../support/random.ts";
import { ACCOUNTS, initialState, ZONES } from "./initial-state.ts";
import { type Moment, moment, problems } from "./step-problems.ts";
import { World } from "./world.ts";
import type { Action } from "./world-action.ts";
import { WorldActions } from "./world-actions.ts";
import type { WorldDatabase } from "./world-parts.ts";

/** How many changes a sequence has. */
export const STEPS = 20;
/** Attempts at a sequence: most are refused. */
const ATTEMPTS = 2000;
const REFUSALS: ReadonlySet<string> = new Set([
  "FORBIDDEN",
  "FAILED_PRECONDITION",
  "INVALID_ARGUMENT",
  "RESOURCE_NOT_FOUND",
]);

/** What a sequence has shown. */
export interface Sequence {
  /** What was permitted, in its order. */
  readonly steps: readonly Action[];
  /** What is wrong after the last one. */
  readonly found: readonly string[];
}

/** Runs a sequence, up to the first change that is wrong. */
export async function runSequence(seed: number, database: WorldDatabase): Promise<Sequence> {
  const random = new Random(seed);
  const world = await World.begin(database, initialState(random));
  await using _ = world.engine;
  const actions = new WorldActions(random, world);
  const steps: Action[] = [];
  let before = moment(await world.read());
  actions.see(before.relationships);
  for (let attempt = 0; attempt < ATTEMPTS && steps.length < STEPS; attempt++) {
    const action = actions.draw();
    const isJob = action.kind === "removals";
    // Whoever is disabled or deleted has no token; the uses of a link ask for none.
    const isBarred = !isJob && action.kind !== "reset" && !(await world.isEnabled(action.caller));
    if (isBarred || !(await isPermitted(world, action))) continue;
    if (!isJob) steps.push(action);
    const after = moment(await world.read());
    const found = [...problems(action, before, after), ...(await ownerless(world, after))];
    if (action.kind === "reset" && !(await world.isEnabled(action.caller))) {
      found.push("a link of a disabled user is used");
    }
    if (found.length > 0) return { steps: isJob ? [...steps, action] : steps, found };
    before = after;
    actions.see(before.relationships);
  }
  return { steps, found: [] };
}

async function isPermitted(world: World, action: Action): Promise<boolean> {
  try {
    await world.take(action);
    return true;
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (!REFUSALS.has(code)) throw error;
    return false;
  }
}

/** The zones without an enabled user as an owner: each has one at the beginning. */
async function ownerless(world: World, { rights }: Moment): Promise<string[]> {
  const found: string[] = [];
  for (const id of ZONES) {
    const owners = ACCOUNTS.filter(
      (account) => account.type === "user" && rights.holds({ type: "zone", id }, "owner", account),
    );
    const enabled = await Promise.all(owners.map((owner) => world.isEnabled(owner)));
    if (!enabled.includes(true)) found.push(`the zone ${id} has no owner`);
  }
  return found;
}
