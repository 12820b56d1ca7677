/** What `svc-iam check --explain` says of a decision. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ExplanationStepSchema } from "../../gen/svc/iam/v1/administration_pb.ts";
import { explanationLines } from "../../src/commands/permissions/explanation-text.ts";

const step = (id: string, allowed: boolean, kind: string, parent = 0) =>
  create(ExplanationStepSchema, {
    parent,
    resource: { type: "group", id },
    permission: "member",
    allowed,
    kind,
  });

test("a denial names what is not held, each once, and then the first of many steps [CMD-2]", () => {
  const steps = [
    step("root", false, "union"),
    ...Array.from({ length: 40 }, (_, index) => step(`g${index % 10}`, false, "relation")),
  ];
  const lines = explanationLines({ allowed: false, steps });
  expect(lines.slice(0, 4)).toEqual([
    "not allowed",
    `not held: ${[0, 1, 2, 3, 4, 5, 6, 7].map((one) => `group:g${one}#member`).join(", ")} and 2 more`,
    "no  group:root#member: union",
    "  no  group:g0#member: relation",
  ]);
  expect(lines).toHaveLength(23);
  expect(lines.at(-1)).toBe("(21 more steps: --format json has all)");
});

test("a denial without relations has only its steps, and a path that allows is whole [CMD-2]", () => {
  const nothing = explanationLines({ allowed: false, steps: [step("root", false, "nil")] });
  expect(nothing).toEqual(["not allowed", "no  group:root#member: nil"]);
  const path = Array.from({ length: 40 }, (_, index) =>
    step(`g${index}`, true, "union", Math.max(0, index - 1)),
  );
  expect(explanationLines({ allowed: true, steps: path })).toHaveLength(41);
});
