import { expect, test } from "vitest";
import { avatarUrlProblem } from "../../../src/people/accounts/account-texts.ts";

test.each(["", "https://example.com/a.png", "https://example.com:8443/a?size=64&x=%20#f"])(
  "%j can be the URL of a picture",
  (url) => expect(avatarUrlProblem(url)).toBeUndefined(),
);

test.each([
  ["http://example.com/a.png", "must be an https URL"],
  ["javascript:alert(1)", "must be an https URL"],
  ["data:image/png;base64,AAAA", "must be an https URL"],
  ["//example.com/a.png", "must be an https URL"],
  ["https:/example.com", "must be an https URL"],
  ["https://example.com/a b", "must be an https URL"],
  ['https://example.com/"onload="x', "must be an https URL"],
  ["https://example.com/\\evil", "must be an https URL"],
  [" https://example.com/", "must be an https URL"],
  ["https://", "must be an https URL"],
  ["https://alice:secret@example.com/", "must not contain a user name or password"],
  [`https://example.com/${"a".repeat(2048)}`, "must have at most 2048 characters"],
])("%j cannot: %s", (url, problem) => expect(avatarUrlProblem(url)).toBe(problem));
