/** Page tokens that another replica has sealed. */
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { ListTokens } from "../../../src/api/relationships/list-token.ts";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { OutsideValues } from "../../../src/ground/secrets/outside-values.ts";
import { SecretBox } from "../../../src/ground/secrets/secret-box.ts";

const LIST = ["group", "ops"];
const newKey = () => randomBytes(32).toString("base64");

/** The tokens of a replica with keys, the first of which seals. */
function replica(...lines: string[]) {
  const logged: string[] = [];
  const missing = { has: () => undefined, add: (id: string) => void logged.push(id) };
  const values = new OutsideValues(new SecretBox(EncryptionKeys.parse(lines.join("\n"))), missing);
  const caller = { subjectType: "user", subjectId: "alice" } as const;
  return { logged, tokens: new ListTokens(values, "ListMembers", caller) };
}

test("a key that is missing here is not an outage of the service, and is reported", () => {
  const [former, next] = [newKey(), newKey()];
  const token = replica(next, former).tokens.write(LIST, { resourceId: "ops" });
  const { tokens, logged } = replica(former);
  const refused = expect.objectContaining({
    code: "ABORTED",
    status: 409,
    message: expect.stringMatching(/try again, or list again from the first page$/),
  });
  for (let count = 0; count < 2; count++) {
    expect(() => tokens.read(LIST, token)).toThrow(refused);
  }
  expect(logged).toHaveLength(2);
  expect(replica(former, next).tokens.read(LIST, token)).toEqual({ resourceId: "ops" });
});

test.each([
  ["of another list", (token: string) => token, ["group", "other"]],
  ["that is too long", (token: string) => token.padEnd(16_385, "A"), LIST],
  ["that was changed", (token: string) => token.slice(0, -4), LIST],
  ["of a version before", () => "WyJhIl0", LIST],
])("a token %s is not valid", (_, changed, list) => {
  const { tokens, logged } = replica(newKey());
  const token = changed(tokens.write(LIST, { resourceId: "ops" }));
  const refused = expect.objectContaining({ code: "INVALID_ARGUMENT" });
  expect(() => tokens.read(list, token)).toThrow(refused);
  expect(logged).toEqual([]);
});
