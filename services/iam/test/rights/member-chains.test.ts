/** Chains of groups that are members of one another. */
import { readFileSync } from "node:fs";
import {
  type AuthorizationEngine,
  type CallOptions,
  createSpicedbEngine,
  parseModel,
  type SpicedbEngine,
} from "svc-access/authz";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type SpicedbServer,
  spicedbIsAbsent,
  startSpicedb,
} from "../../../../test/support/spicedb.ts";
import { MAX_DEPTH } from "../../src/api/groups/group-tree.ts";
import type { OwnerClaimTables } from "../../src/ground/store/owner-claim-tables.ts";
import { LastOwner, type LastOwnerOptions } from "../../src/rights/last-owner.ts";
import { MAX_CHAIN } from "../../src/rights/member-chains.ts";
import { OwnerClaims } from "../../src/rights/owner-claims.ts";
import { stackDatabase } from "../support/databases.ts";
import { iamEngine, NO_LOG, updatesOf, write } from "./rights-engine.ts";

const FILE = new URL("../../../../model/iam.zed", import.meta.url).pathname;
const SCHEMA = readFileSync(FILE, "utf8");

const { open } = await stackDatabase();
const database = open().as<OwnerClaimTables>();

/**
 * Claims of a replica.
 *
 * @param waits when they have to wait for those of others
 * @param beforeClaim what happens between the look at the chains and the claims of them
 */
function claims(waits = () => {}, beforeClaim = async () => {}): LastOwnerOptions["claims"] {
  const own = new OwnerClaims(database, NO_LOG);
  const during: OwnerClaims["during"] = (objects, signal, work, ...others) =>
    own.during(
      objects,
      signal,
      async (claimed) => {
        const add = async (more: readonly string[]) => {
          if (more.length > 0) await beforeClaim();
          return claimed.add(more);
        };
        const result = await work({ add });
        if (result === "busy") waits();
        return result;
      },
      ...others,
    );
  return { during } as OwnerClaims;
}
const signal = new AbortController().signal;

const nested = (outer: string, inner: string) => `group:${outer}#member@group:${inner}#member`;

/** `a1` has the member `a2`, and so on: as many groups as a length. */
const chain = (name: string, length: number) =>
  Array.from({ length: length - 1 }, (_, index) =>
    nested(`${name}${index + 1}`, `${name}${index + 2}`),
  );

/** @param beforeWrite what happens between the look at the chains and the write */
function writer(engine: AuthorizationEngine, own = claims(), beforeWrite = async () => {}) {
  const enabled = async (ids: readonly string[]) => new Set(ids);
  const last = new LastOwner({ engine, claims: own, enabled });
  return async (...texts: string[]): Promise<string> => {
    let decisions = 0;
    const decide = async () => {
      if (++decisions === 2) await beforeWrite();
      return [];
    };
    try {
      await last.write(updatesOf(...texts), decide, signal);
      return "done";
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return `${code}: ${message}`;
    }
  };
}

const TOO_LONG = `FAILED_PRECONDITION: at most ${MAX_CHAIN} groups can be members of one another in a row: add the members themselves, or remove one of these groups from another first`;
const CLOSED = "FAILED_PRECONDITION: the group would be a member of itself";
const MANY =
  "FAILED_PRECONDITION: more than 1000 groups are members of one another here: remove some of them first, or write fewer at once";
const star = Array.from({ length: 1000 }, (_, index) => `leaf${index}`);

describe("a chain of groups that are members of one another is not too long", () => {
  test.each<[string, readonly string[], readonly string[], string]>([
    ["the longest", chain("a", MAX_CHAIN - 1), [nested(`a${MAX_CHAIN - 1}`, "x")], "done"],
    ["one more below", chain("a", MAX_CHAIN), [nested(`a${MAX_CHAIN}`, "x")], TOO_LONG],
    ["one more above", chain("a", MAX_CHAIN), [nested("x", "a1")], TOO_LONG],
    [
      "two that fit",
      [...chain("a", 7), ...chain("b", MAX_CHAIN - 7)],
      [nested("a7", "b1")],
      "done",
    ],
    [
      "two that do not",
      [...chain("a", 8), ...chain("b", MAX_CHAIN - 7)],
      [nested("a8", "b1")],
      TOO_LONG,
    ],
    ["all of it at once", [], chain("a", MAX_CHAIN), "done"],
    ["too much at once", [], chain("a", MAX_CHAIN + 1), TOO_LONG],
    ["too much at once, from its end", [], chain("a", MAX_CHAIN + 1).reverse(), TOO_LONG],
    ["far too much at once", [], chain("a", 60), TOO_LONG],
    [
      "the longer one of two ways",
      [...chain("a", MAX_CHAIN), nested("a1", `a${MAX_CHAIN}`)],
      [nested(`a${MAX_CHAIN}`, "x")],
      TOO_LONG,
    ],
    [
      "the shorter one of two ways",
      [...chain("a", MAX_CHAIN), nested("a1", "b")],
      [nested("b", "x")],
      "done",
    ],
    [
      "what is removed in the same call does not count",
      chain("a", MAX_CHAIN),
      [`-${nested("a1", "a2")}`, nested(`a${MAX_CHAIN}`, "x")],
      "done",
    ],
    [
      "a user at the end of the longest",
      chain("a", MAX_CHAIN),
      [`group:a${MAX_CHAIN}#member@user:u`],
      "done",
    ],
    [
      "a grant to the longest",
      chain("a", MAX_CHAIN),
      ["zone:acme#user_viewer@group:a1#member"],
      "done",
    ],
    ["a removal of what is too long", chain("a", 60), [`-${nested("a30", "a31")}`], "done"],
    ["a cycle", chain("a", 3), [nested("a3", "a1")], CLOSED],
    ["a group in itself", [], [nested("a", "a")], CLOSED],
    ["a cycle at once", [], [...chain("a", 3), nested("a3", "a1")], CLOSED],
    [
      "1,000 groups below",
      star.slice(1).map((leaf) => nested("a", leaf)),
      [nested("x", "a")],
      "done",
    ],
    ["more groups below", star.map((leaf) => nested("a", leaf)), [nested("x", "a")], MANY],
    ["more groups above", star.map((leaf) => nested(leaf, "a")), [nested("a", "x")], MANY],
  ])("%s", async (_, stored, written, expected) => {
    await using engine = await iamEngine(...stored);
    expect(await writer(engine)(...written)).toBe(expected);
  });

  test.each<[string, readonly string[], string, string, string]>([
    [
      "make a chain too long",
      [...chain("a", 5), ...chain("b", MAX_CHAIN - 9), ...chain("c", 5)],
      nested("a5", "b1"),
      nested(`b${MAX_CHAIN - 9}`, "c1"),
      TOO_LONG,
    ],
    ["close a cycle", chain("b", 3), nested("a", "b1"), nested("b3", "a"), CLOSED],
    ["fit", [...chain("a", 5), ...chain("b", 3)], nested("a5", "b1"), nested("b3", "c"), "done"],
  ])(
    "nor by two writes at two replicas that %s together",
    async (_, stored, one, two, expected) => {
      await using engine = await iamEngine(...stored);
      let met = () => {};
      const meeting = new Promise<void>((resolve) => {
        met = resolve;
      });
      const second = writer(engine, claims(met));
      let other: Promise<string> | undefined;
      const first = writer(engine, claims(), async () => {
        // The chains were looked at, and nothing is written yet.
        other = second(two);
        await Promise.race([other, meeting]);
      });
      expect(await first(one)).toBe("done");
      expect(await other).toBe(expected);
    },
  );

  test.each<[string, readonly string[], string]>([
    ["make a chain too long", chain("c", MAX_CHAIN - 3), TOO_LONG],
    ["close a cycle", chain("c", 2).concat(nested("c2", "a")), CLOSED],
    ["fit", chain("c", 2), "done"],
  ])(
    "nor by one that ends between the look of another and its claims: they %s",
    async (_, stored, expected) => {
      await using engine = await iamEngine(...stored);
      let turns = 0;
      const beforeClaim = async () => {
        if (++turns === 1) expect(await writer(engine)(nested("b3", "c1"))).toBe("done");
      };
      let claimed: readonly string[] = [];
      const beforeWrite = async () => {
        const rows = await database.kysely
          .selectFrom("iam_owner_claims")
          .select("object")
          .execute();
        claimed = rows.map(({ object }) => object);
      };
      await write(engine, ...chain("b", 3));
      expect(
        await writer(
          engine,
          claims(() => {}, beforeClaim),
          beforeWrite,
        )(nested("a", "b1")),
      ).toBe(expected);
      if (expected === "done") expect(claimed).toEqual(expect.arrayContaining(["group:c2 nested"]));
    },
  );
});

describe.skipIf(spicedbIsAbsent())("SpiceDB decides with the longest chains", () => {
  let spicedb: SpicedbServer;
  let engine: SpicedbEngine;
  const { model } = parseModel(SCHEMA, FILE);
  const { definitions } = model;
  beforeAll(async () => {
    spicedb = await startSpicedb();
    const { endpoint, token } = spicedb;
    const deadlineMs = 30_000;
    engine = await createSpicedbEngine({ endpoint, token, insecure: true, model, deadlineMs });
    await engine.writeSchema(SCHEMA);
  });
  afterAll(async () => {
    await engine.close();
    await spicedb.stop();
  });
  const tree = Array.from({ length: MAX_DEPTH }, (_, index) => index + 1);
  /** Where everything is as deep as it can be: the tree of groups, and the chain that holds each relation. */
  const objects: Readonly<Record<string, string>> = {
    zone: "acme",
    group: `tree${MAX_DEPTH}`,
    organization: "o",
    project: "p",
    skill_space: "s",
    skill: "k",
  };
  const placed = [
    ...tree.map((level) => `group:tree${level}#zone@zone:acme`),
    ...tree.slice(1).map((level) => `group:tree${level}#parent@group:tree${level - 1}`),
    "organization:o#zone@zone:acme",
    "project:p#parent@organization:o",
    "skill_space:s#zone@zone:acme",
    "skill:k#parent@skill_space:s",
  ];
  /** Nothing on the group itself: its permissions come from the zone, by the longest way. */
  const granted = [...definitions].flatMap(([type, { relations }]) =>
    [...relations.values()]
      .filter(({ name }) => type !== "group" && !["zone", "parent"].includes(name))
      .map(({ name }) => `${type}:${objects[type]}#${name}@group:a1#member`),
  );
  const user = `group:a${MAX_CHAIN}#member@user:last`;

  test("of every type and permission of the model, for somebody with it and somebody without", async () => {
    await write(engine, ...placed, ...granted, ...chain("a", MAX_CHAIN), user);
    let count = 0;
    /** SpiceDB has decided nothing before in a state that is new, from which it would know a part of the way. */
    const anew = async <Answer>(ask: (options: CallOptions) => Promise<Answer>) => {
      await write(engine, `zone:new#owner@user:${++count}`);
      return ask({ newest: true });
    };
    for (const [type, { permissions }] of definitions) {
      const id = objects[type] ?? "";
      const resource = { type, id };
      for (const permission of permissions.keys()) {
        const answers: unknown[] = [];
        for (const name of ["last", "nobody"]) {
          const subject = { type: "user", id: name };
          const on = { resourceType: type, permission, subject };
          const checked = await anew((options) =>
            engine.check({ resource, permission, subject }, options),
          );
          const any = await anew((options) => engine.checkAny(on, options));
          const listed = await anew((options) => engine.lookupResources(on, options));
          answers.push([checked.allowed, any.allowed, listed.items.includes(id)]);
        }
        const subjects = { resource, permission, subjectType: "user" };
        const { items } = await anew((options) => engine.lookupSubjects(subjects, options));
        answers.push(items.map(({ id }) => id));
        expect(answers, `${type}#${permission}`).toEqual([
          [true, true, true],
          [false, false, false],
          ["last"],
        ]);
      }
    }
  }, 120_000);
});
