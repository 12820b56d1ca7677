import { expect, test } from "vitest";
import {
  accountClaims,
  serviceAccountClaims,
} from "../../../../src/provider/embedded/tokens/token-claims.ts";
import { ALICE } from "../../../support/memory-accounts.ts";

test("the claims are those that the edge maps to headers", () => {
  expect(accountClaims(ALICE)).toEqual({
    id: ALICE.id,
    subject_type: "user",
    email: ALICE.email,
    name: ALICE.displayName,
    displayName: ALICE.displayName,
    preferred_username: "alice",
    owner: "acme",
  });
});

test("somebody without a display name has the user name", () => {
  expect(accountClaims({ ...ALICE, displayName: "" })).toMatchObject({ name: "alice" });
});

test("long names are cut between characters, and long addresses are left out", () => {
  const claims = accountClaims({
    ...ALICE,
    displayName: `a${"\u{1f511}".repeat(100)}`,
    email: `${"e".repeat(300)}@example.com`,
  });
  expect(claims["name"]).toBe(`a${"\u{1f511}".repeat(39)}`);
  expect(claims).not.toHaveProperty("email");
});

test("claims without a value are left out", () => {
  const claims = accountClaims({ ...ALICE, displayName: "", username: "", email: "" });
  expect(claims).toEqual({ id: ALICE.id, subject_type: "user", owner: "acme" });
});

test("a service account is one", () => {
  expect(serviceAccountClaims({ id: "c", name: "Robot" }, "acme")).toEqual({
    id: "c",
    subject_type: "service_account",
    name: "Robot",
    displayName: "Robot",
    preferred_username: "Robot",
    owner: "acme",
  });
});
