import { expect, test } from "vitest";
import { CheckAnswers } from "../../../src/api/permissions/check-answers.ts";

const shown = ({ allowed, revision }: { allowed: boolean; revision: string }) =>
  `${allowed} at ${revision}`;

test("each response says what was decided, and at which revision", () => {
  const answers = new CheckAnswers();
  const decisions = [
    { allowed: true, revision: "r1" },
    { allowed: false, revision: "r1" },
    { allowed: true, revision: "r1" },
    { allowed: true, revision: "r2" },
    { allowed: false, revision: "r2" },
    { allowed: false, revision: "r1" },
    { allowed: true, revision: "r1" },
  ];
  expect(decisions.map((decision) => shown(answers.of(decision)))).toEqual(decisions.map(shown));
});

test("at one revision, each is made once", () => {
  const answers = new CheckAnswers();
  const allowed = answers.of({ allowed: true, revision: "r1" });
  answers.of({ allowed: false, revision: "r1" });
  expect(answers.of({ allowed: true, revision: "r1" })).toBe(allowed);
  answers.of({ allowed: false, revision: "r2" });
  expect(answers.of({ allowed: true, revision: "r1" })).not.toBe(allowed);
});

test("nobody can turn a denial into something else", () => {
  const denied = new CheckAnswers().of({ allowed: false, revision: "r1" });
  expect(() => Object.assign(denied, { allowed: true })).toThrow(TypeError);
});
