import { expect, test } from "vitest";
import {
  CREDENTIAL_KINDS,
  type CredentialKind,
  challengesOf,
  credentialTraits,
} from "../../../src/runtime/call/credential-kinds.ts";

test.each(["", "session", "constructor", "toString", "__proto__", undefined])(
  "the unknown kind %s has no traits, so that a call with it fails",
  (kind) => {
    expect(() => credentialTraits(kind as CredentialKind)).toThrow(
      `an authenticator names the kind of credential ${kind}: write one of jwt, gateway, internal, system, cookie`,
    );
  },
);

const namesOf = (has: (kind: CredentialKind) => boolean) => CREDENTIAL_KINDS.filter(has);

test("only internal tokens open INTERNAL RPCs, and only system tokens SYSTEM ones", () => {
  const openedBy = (exposure: string) =>
    namesOf((kind) => credentialTraits(kind).opens?.exposure === exposure);
  expect(openedBy("INTERNAL")).toEqual(["internal"]);
  expect(openedBy("SYSTEM")).toEqual(["system"]);
});

test("only tokens of services count whatever else a call passes on", () => {
  expect(namesOf((kind) => credentialTraits(kind).isOfService)).toEqual(["internal", "system"]);
});

test("the kinds that browsers send by themselves [HDR-9]", () => {
  expect(namesOf((kind) => credentialTraits(kind).sentByBrowser !== "never")).toEqual([
    "jwt",
    "gateway",
    "cookie",
  ]);
});

test("a caller without a credential is asked for a token", () => {
  expect(challengesOf(undefined)).toBe("Bearer");
  expect(challengesOf({ refusedBearer: false })).toBe("Bearer");
});

test("a caller whose token is not accepted learns that", () => {
  expect(challengesOf({ refusedBearer: true })).toBe('Bearer error="invalid_token"');
});
