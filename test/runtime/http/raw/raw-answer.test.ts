import { expect, test } from "vitest";
import type { Call } from "../../../../src/runtime/call/call.ts";
import { recordReplacement } from "../../../../src/runtime/http/raw/raw-answer.ts";

test.each([400.5, 599.25, 600, Number.NaN])(
  "%d is not an error of a handler: it cannot be sent",
  (status) => {
    const call = {} as Call;
    recordReplacement(call, { status, body: "" });
    expect(call.answeredError).toBeUndefined();
  },
);

test("a whole number from 400 on is one, the same each time", () => {
  const [one, two] = [{} as Call, {} as Call];
  for (const call of [one, two]) recordReplacement(call, { status: 404, body: "" });
  expect(one.answeredError).toMatchObject({ status: 404 });
  expect(two.answeredError).toBe(one.answeredError);
});
