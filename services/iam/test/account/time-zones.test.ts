/** The time zones that the preferences offer. */
import { describe, expect, test } from "vitest";
import { Theme } from "../../gen/svc/iam/v1/auth_pb.ts";
import { preferenceProblems, profileForms } from "../../src/account/profile-forms.ts";
import { timeZones } from "../../src/account/time-zones.ts";
import { Texts } from "../../src/pages/texts.ts";

const RENAMED = [
  ["Africa/Asmera", "Africa/Asmara"],
  ["America/Buenos_Aires", "America/Argentina/Buenos_Aires"],
  ["America/Godthab", "America/Nuuk"],
  ["America/Indianapolis", "America/Indiana/Indianapolis"],
  ["Asia/Calcutta", "Asia/Kolkata"],
  ["Asia/Katmandu", "Asia/Kathmandu"],
  ["Asia/Rangoon", "Asia/Yangon"],
  ["Asia/Saigon", "Asia/Ho_Chi_Minh"],
  ["Atlantic/Faeroe", "Atlantic/Faroe"],
  ["Europe/Kiev", "Europe/Kyiv"],
  ["Pacific/Truk", "Pacific/Chuuk"],
] as const;

test.each(RENAMED)("in place of %s, %s is offered, once", (former, current) => {
  const offered = timeZones("UTC");
  expect(offered).not.toContain(former);
  expect(offered.filter((name) => name === current)).toHaveLength(1);
});

test("all are zones, none is missing, and each is there once, in their order after UTC", () => {
  const [first, ...others] = timeZones("UTC");
  expect(first).toBe("UTC");
  expect(others).toEqual([...new Set(others)].sort());
  // However the data of this Node names it, it is the same zone.
  const known = others.map(
    (timeZone) => new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone,
  );
  const expected = Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC");
  expect(known.sort()).toEqual(expected.sort());
});

test.each(["Asia/Calcutta", "Mars/Base", "UTC", "Asia/Kolkata"])(
  "the zone %s of an account remains a choice, once",
  (chosen) => {
    expect(timeZones(chosen).filter((name) => name === chosen)).toHaveLength(1);
  },
);

describe("the form of an account with a former name", () => {
  const account = { username: "alice", email: "", displayName: "Alice", avatarUrl: "" };
  const stored = { language: "en", timeZone: "Asia/Calcutta", theme: Theme.SYSTEM };

  test("has it selected, and offers the current one", () => {
    const body = profileForms({ ...account, ...stored, etag: "", token: "" });
    const { text } = body(new Texts("en"));
    expect(text).toContain('<option value="Asia/Calcutta" selected>');
    expect(text).toContain('<option value="Asia/Kolkata">Asia/Kolkata</option>');
  });

  test.each([
    ["Asia/Calcutta", false],
    ["Asia/Kolkata", false],
    ["Europe/Kiev", true],
    ["Mars/Base", true],
  ])("is sent with %s: refused %j", (timeZone, isRefused) => {
    expect(preferenceProblems({ ...stored, timeZone }, stored).timeZone).toBe(isRefused);
  });
});
