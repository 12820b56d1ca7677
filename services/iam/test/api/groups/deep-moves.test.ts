/** Moves that others make deeper while they wait for their turn. */
import { expect, test } from "vitest";
import { GroupMoves } from "../../../src/api/groups/group-moves.ts";
import { GroupTree, MAX_DEPTH } from "../../../src/api/groups/group-tree.ts";
import { iamEngine, write } from "../../rights/rights-engine.ts";

const signal = new AbortController().signal;

/** Groups one below another. */
const levels = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => [
    `group:${name}${index + 1}#zone@zone:acme`,
    ...(index === 0 ? [] : [`group:${name}${index + 1}#parent@group:${name}${index}`]),
  ]).flat();

test.each([
  ["what fits", 2, "done"],
  ["what is too deep then", 3, "FAILED_PRECONDITION"],
])("below the group that moves comes %s", async (_, more, expected) => {
  await using engine = await iamEngine(
    ...levels("a", MAX_DEPTH - 3),
    ...levels("moved", 1),
    ...levels("late", more),
  );
  const nothing = async () => [];
  const moves = new GroupMoves({
    engine,
    tree: new GroupTree(engine),
    places: { assertMayPlace: nothing, assertManages: nothing } as never,
    rights: { assertMayHandDown: nothing } as never,
    lastOwner: {
      async guard(_change, _signal, work) {
        // Another move has the turn before.
        await write(engine, "group:late1#parent@group:moved1");
        return work([], (run) => run());
      },
    },
  });
  const group = { id: "moved1", organizationId: "acme" };
  const caller = { subjectType: "user", subjectId: "root" };
  const moved = moves.move(caller, group, `a${MAX_DEPTH - 3}`, signal);
  const outcome = await moved.then(
    () => "done",
    (error: { code: string }) => error.code,
  );
  expect(outcome).toBe(expected);
});
