/** What was sealed for a browser, and comes back from it. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { OutsideValues } from "../../../src/ground/secrets/outside-values.ts";
import { SecretBox } from "../../../src/ground/secrets/secret-box.ts";

const PLACE = { table: "form", column: "login", row: "a browser" };
/** Not an outage: it would count as one of the service. */
const ABORTED = expect.objectContaining({ code: "ABORTED", status: 409, retryAfterSeconds: 1 });

function values() {
  const missing: string[] = [];
  const keys = EncryptionKeys.parse(randomBytes(32).toString("base64"));
  const log = { has: () => undefined, add: (id: string) => void missing.push(id) };
  return { missing, id: keys.first.id, values: new OutsideValues(new SecretBox(keys), log) };
}

describe("a value that was never sealed here is not one", () => {
  test.each([
    ["an empty text", ""],
    ["a text", "x"],
    ["another version", "v2.AAAAAAAAAA.AAAA"],
    ["a key that cannot be one", "v1.x.AAAA"],
    ["a key that is too long", `v1.${"A".repeat(11)}.AAAA`],
    ["markup as a key", "v1.<script>ab.AAAA"],
    ["a further part", "v1.AAAAAAAAAA.AAAA.A"],
  ])("%s", (_, value) => {
    const { values: here, missing } = values();
    expect(here.open(value, PLACE)).toBeUndefined();
    expect(missing).toEqual([]);
  });

  test("one of another place", () => {
    const { values: here } = values();
    expect(here.open(here.seal("x", PLACE), { ...PLACE, row: "another" })).toBeUndefined();
    expect(here.open(here.seal("x", PLACE), PLACE)).toBe("x");
  });
});

test("a missing key is reported, and its value may be read elsewhere", () => {
  const { values: here, missing } = values();
  const other = values();
  expect(() => here.open(other.values.seal("x", PLACE), PLACE)).toThrow(ABORTED);
  expect(missing).toEqual([other.id]);
});
