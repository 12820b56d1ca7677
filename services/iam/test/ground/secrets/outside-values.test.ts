/** What was sealed for a browser, and comes back from it. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { MissingKeyLog, OutsideValues } from "../../../src/ground/secrets/outside-values.ts";
import { SecretBox } from "../../../src/ground/secrets/secret-box.ts";

const PLACE = { table: "form", column: "login", row: "a browser" };
/** Not an outage: it would count as one of the service. */
const ABORTED = expect.objectContaining({ code: "ABORTED", status: 409, retryAfterSeconds: 1 });

function values() {
  const clock = { now: 1000 };
  const lines: object[] = [];
  const error = (fields: object) => void lines.push(fields);
  const keys = EncryptionKeys.parse(randomBytes(32).toString("base64"));
  const log = new MissingKeyLog({ error }, () => clock.now);
  return {
    clock,
    lines,
    id: keys.first.id,
    ...{ values: new OutsideValues(new SecretBox(keys), log) },
  };
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
    const { values: here, lines } = values();
    expect(here.open(value, PLACE)).toBeUndefined();
    expect(lines).toEqual([]);
  });

  test("one of another place", () => {
    const { values: here } = values();
    expect(here.open(here.seal("x", PLACE), { ...PLACE, row: "another" })).toBeUndefined();
    expect(here.open(here.seal("x", PLACE), PLACE)).toBe("x");
  });
});

test("a missing key is logged once a minute, however often values name it", () => {
  const { values: here, lines, clock } = values();
  const other = values();
  const value = other.values.seal("x", PLACE);
  for (let count = 0; count < 3; count++) expect(() => here.open(value, PLACE)).toThrow(ABORTED);
  expect(lines).toEqual([expect.objectContaining({ key: other.id })]);
  clock.now += 60_000;
  expect(() => here.open(value, PLACE)).toThrow(ABORTED);
  expect(lines).toHaveLength(2);
});

test("who makes up keys does not fill the log", () => {
  const { values: here, lines, clock } = values();
  const invented = (index: number) => `v1.${String(index).padStart(10, "0")}.AAAA`;
  for (let index = 0; index < 500; index++) {
    expect(() => here.open(invented(index), PLACE)).toThrow(ABORTED);
  }
  expect(lines).toHaveLength(100);
  clock.now += 60_000;
  expect(() => here.open(invented(999), PLACE)).toThrow(ABORTED);
  expect(lines).toHaveLength(101);
});
