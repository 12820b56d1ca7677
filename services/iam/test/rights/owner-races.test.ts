import type { AuthorizationEngine } from "svc-access/authz";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../test/support/effort.ts";
import type { OwnerClaimTables } from "../../src/ground/store/owner-claim-tables.ts";
import { LastOwner } from "../../src/rights/last-owner.ts";
import { OwnerClaims } from "../../src/rights/owner-claims.ts";
import { postgres, sqlite, type TestDatabase } from "../support/databases.ts";
import { Random } from "../support/random.ts";
import { PlainRights } from "./plain-rights.ts";
import { iamEngine, NO_LOG, updatesOf, write } from "./rights-engine.ts";

const signal = new AbortController().signal;
const MINUTE = 60_000;
const atPostgres = await postgres();
const KINDS: readonly (readonly [string, () => Promise<TestDatabase>])[] = [
  ["SQLite", sqlite],
  ...(atPostgres === undefined ? [] : [["PostgreSQL", atPostgres] as const]),
];

/** The users who own the zone and are not disabled. */
async function owners(engine: AuthorizationEngine, disabled: ReadonlySet<string>) {
  const rights = new PlainRights((await engine.readRelationships({})).items);
  const zone = { type: "zone", id: "acme" };
  return ["a", "b", "c"].filter(
    (id) => !disabled.has(id) && rights.holds(zone, "owner", { type: "user", id }),
  );
}

/** A zone with three users, and replicas that take owners from it. */
async function replicas({ open }: TestDatabase, random: Random, ...stored: string[]) {
  const engine = await iamEngine(...stored);
  const disabled = new Set<string>();
  // Other operations run between any two steps of one.
  const pause = async () => {
    for (let turns = random.below(6); turns > 0; turns--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const slow = new Proxy(engine, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return async (...parameters: unknown[]) => {
        await pause();
        return value.apply(target, parameters);
      };
    },
  });
  const enabled = async (ids: readonly string[]) => {
    await pause();
    return new Set(ids.filter((id) => !disabled.has(id)));
  };
  const replica = () => {
    const claims = new OwnerClaims(open().as<OwnerClaimTables>(), NO_LOG);
    const last = new LastOwner({ engine: slow, claims, enabled });
    return {
      remove: (text: string) => last.write(updatesOf(`-${text}`), async () => [], signal),
      disable: (id: string) =>
        last.guard({ leaving: [{ type: "user", id }] }, signal, async () => {
          await pause();
          disabled.add(id);
        }),
    };
  };
  return { engine, disabled, replica };
}

const outcome = async (operation: Promise<unknown>) => {
  try {
    await operation;
    return "done";
  } catch (error) {
    return (error as { code: string }).code;
  }
};

/** A signal that is waited for. */
function signalled() {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

const OWNER = (id: string) => `zone:acme#owner@user:${id}`;
const GROUP = "zone:acme#owner@group:board#member";
const MEMBER = (id: string) => `group:board#member@user:${id}`;

type Operation = readonly ["remove" | "disable", string];
type Row = [string, readonly string[], Operation, Operation];

describe.each(KINDS)("operations at two replicas, on %s [IAM-10]", (_, openDatabase) => {
  test.each([
    [
      "remove both owners",
      [OWNER("a"), OWNER("b")],
      ["remove", OWNER("a")],
      ["remove", OWNER("b")],
    ],
    [
      "remove one, disable the other",
      [OWNER("a"), OWNER("b")],
      ["remove", OWNER("a")],
      ["disable", "b"],
    ],
    ["disable both", [OWNER("a"), OWNER("b")], ["disable", "a"], ["disable", "b"]],
    [
      "remove one, and the other from the group",
      [OWNER("a"), GROUP, MEMBER("b")],
      ["remove", OWNER("a")],
      ["remove", MEMBER("b")],
    ],
    [
      "remove the group, disable the other owner",
      [OWNER("a"), GROUP, MEMBER("b")],
      ["remove", GROUP],
      ["disable", "a"],
    ],
    [
      "remove both from the group",
      [GROUP, MEMBER("a"), MEMBER("b")],
      ["remove", MEMBER("a")],
      ["remove", MEMBER("b")],
    ],
  ] as const satisfies readonly Row[])(
    "%s: one of them is refused, however they meet",
    { timeout: MINUTE },
    async (_, stored, first, second) => {
      const database = await openDatabase();
      for (let seed = 1; seed <= runs(50, 3); seed++) {
        const world = await replicas(database, new Random(seed), ...stored);
        const outcomes = await Promise.all(
          [first, second].map(([kind, what]: Operation) => outcome(world.replica()[kind](what))),
        );
        const left = await owners(world.engine, world.disabled);
        expect([[...outcomes].sort(), left.length], `seed ${seed}`).toEqual([
          ["FAILED_PRECONDITION", "done"],
          1,
        ]);
        await world.engine.close();
      }
    },
  );

  test("a new owner who is disabled while another one goes does not count", {
    timeout: MINUTE,
  }, async () => {
    const database = await openDatabase();
    for (let seed = 1; seed <= runs(50, 3); seed++) {
      const world = await replicas(database, new Random(seed), OWNER("a"));
      await Promise.all([
        outcome(write(world.engine, OWNER("b"))),
        outcome(world.replica().disable("b")),
        outcome(world.replica().remove(OWNER("a"))),
      ]);
      expect((await owners(world.engine, world.disabled)).length, `seed ${seed}`).toBe(1);
      await world.engine.close();
    }
  });
});

describe("an operation that looked before another one granted [IAM-10]", () => {
  /** The removal of a member from a group that owns nothing yet, under way; the group is made an owner meanwhile. */
  const begin = async () => {
    const { open } = await sqlite();
    const engine = await iamEngine(OWNER("a"), MEMBER("b"));
    const claims = () => new OwnerClaims(open().as<OwnerClaimTables>(), NO_LOG);
    const all = async (ids: readonly string[]) => new Set(ids);
    const atWork = signalled();
    const mayEnd = signalled();
    const removal = updatesOf(`-${MEMBER("b")}`);
    const deletions = removal.map(({ relationship }) => relationship);
    const ended = new LastOwner({ engine, claims: claims(), enabled: all }).guard(
      { deletions },
      signal,
      async (preconditions) => {
        await write(engine, GROUP);
        atWork.give();
        await mayEnd.given;
        await engine.writeRelationships({ updates: removal, preconditions });
      },
    );
    await atWork.given;
    const end = async () => {
      mayEnd.give();
      await ended;
    };
    return { engine, claims, all, end };
  };

  test("keeps others from relying on what it takes away", async () => {
    const { engine, claims, all, end } = await begin();
    const last = new LastOwner({ engine, claims: claims(), enabled: all });
    const remove = () => outcome(last.write(updatesOf(`-${OWNER("a")}`), async () => [], signal));
    expect(await remove()).toBe("UNAVAILABLE");
    await end();
    expect(await remove()).toBe("FAILED_PRECONDITION");
    expect(await owners(engine, new Set())).toEqual(["a"]);
  });

  test("is seen by whoever has looked meanwhile", async () => {
    const { engine, claims, all, end } = await begin();
    const disabled = new Set<string>();
    const enabled = async (ids: readonly string[]) => {
      if (ids.includes("b")) await end();
      return all(ids);
    };
    const last = new LastOwner({ engine, claims: claims(), enabled });
    const leaving = [{ type: "user", id: "a" }];
    const disabling = last.guard({ leaving }, signal, async () => void disabled.add("a"));
    expect(await outcome(disabling)).toBe("FAILED_PRECONDITION");
    expect(await owners(engine, disabled)).toEqual(["a"]);
  });
});
