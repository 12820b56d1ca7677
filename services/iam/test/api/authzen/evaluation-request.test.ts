/** Bodies of AuthZEN that two parsers may read differently. */
import { describe, expect, test } from "vitest";
import { readEvaluation, readEvaluations } from "../../../src/api/authzen/evaluation-request.ts";

const SUBJECT = '"subject":{"type":"user","id":"alice"}';
const REST = '"action":{"name":"read"},"resource":{"type":"item","id":"1"}';
const CHECK = {
  subject: { type: "user", id: "alice" },
  permission: "read",
  resource: { type: "item", id: "1" },
};
const bytes = (text: string) => new TextEncoder().encode(text);

describe.each([
  ["one decision", readEvaluation],
  ["several decisions", readEvaluations],
] as const)("a request for %s", (_, read) => {
  test.each([
    ["two subjects", `{${SUBJECT},"subject":{"type":"user","id":"root"},${REST}}`],
    ["two equal subjects", `{${SUBJECT},${SUBJECT},${REST}}`],
    ["two ids", `{"subject":{"type":"user","id":"root","id":"alice"},${REST}}`],
    ["a key that is written in two ways", `{${SUBJECT},"sub\\u006aect":{},${REST}}`],
    ["a key twice in what is ignored", `{${SUBJECT},${REST},"x":[{"y":{"a":1,"a":2}}]}`],
    ["__proto__ twice", `{${SUBJECT},${REST},"__proto__":1,"__proto__":2}`],
    ["a key twice in an evaluation", `{${SUBJECT},${REST},"evaluations":[{"a":1,"a":1}]}`],
  ])("is refused with %s [AZEN-1]", (_what, body) => {
    expect(() => read(bytes(body))).toThrow(
      expect.objectContaining({
        code: "INVALID_ARGUMENT",
        message: "the body has an object in which a key occurs twice: send each key once",
      }),
    );
  });

  test.each([
    ["", "the body is empty"],
    [`{${SUBJECT},${SUBJECT}`, "the body is not valid JSON"],
  ])("is refused as it is: %j", (body, message) => {
    expect(() => read(bytes(body))).toThrow(message);
  });

  test.each([
    ["the same key in two objects", `{${SUBJECT},${REST}}`],
    ["keys and colons in texts", `{${SUBJECT},${REST},"x":"\\"a\\":1,\\"a\\":2"}`],
    ["__proto__", `{${SUBJECT},${REST},"__proto__":{"subject":1}}`],
  ])("may have %s", (_what, body) => {
    expect(read(bytes(body))).toEqual(CHECK);
  });
});
