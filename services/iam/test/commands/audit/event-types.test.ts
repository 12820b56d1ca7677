/** The types of events that `--event` takes are those that the service stores. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../../../../test/support/workspace.ts";
import { assertEventType, EVENT_TYPES } from "../../../src/commands/audit/event-types.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, one]) => one);

test("the types of the command line are those of the guide, and of the policies", () => {
  const [, section = ""] = read("docs/iam.md").split("\n## Audit\n");
  const [own = ""] = section.split("\nCalls of RPCs are");
  const rows = all(own, /^\| (`.*?) \| [A-Z]/gm).join(" ");
  const policies = read("services/iam/gen/policies.json");
  const known = [
    ...all(rows, /`([\w.]+)`/g),
    ...all(policies, /"event": "([\w.]+)"/g),
    // Of the runtime, beside calls that are answered again.
    "call.replayed",
  ];
  expect(new Set(EVENT_TYPES)).toEqual(new Set(known));
});

test.each(EVENT_TYPES)("%s is taken", (type) => {
  expect(() => assertEventType(type)).not.toThrow();
});

test.each([
  ["login.failed,login.slowed", /^--event "login\.failed,login\.slowed" has several types: run/],
  ["login.failed, nope", /has several types: run the command once for each$/],
  [
    "login.faild",
    /^--event "login\.faild" is not a type of event; did you mean "login\.failed"\?$/,
  ],
  ["iam.users.create", /did you mean "iam\.user\.create"\?$/],
  ["nope", /^--event "nope" is not a type of event; write one of docs\/iam\.md, such as/],
  ["login.failed ", /did you mean "login\.failed"\?$/],
])("%j is refused with the fix", (type, message) => {
  expect(() => assertEventType(type)).toThrow(message);
});
