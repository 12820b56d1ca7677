import { expect, test } from "vitest";
import {
  AUDIT_FIELD,
  AUTHZ_FIELD,
  EXPOSURES,
  POLICY_EXTENSION,
  POLICY_FIELD,
  RISK_LEVELS,
} from "../../src/api/policy.ts";
import { readApi } from "../../src/compiler/read/read-api.ts";
import { checkApi } from "../../src/rules/check-api.ts";
import { RULES } from "../../src/rules/index.ts";
import { DEFINITION, encode, encodeFile, methodOf, type WireField } from "../api/descriptors.ts";

/** What all rules say of an RPC that reads and whose policy is these bytes. */
function findingsOf(...policy: readonly WireField[]): string[] {
  const method = methodOf("Get", [POLICY_EXTENSION, encode(...policy)]);
  const file = { name: "a.proto", package: "a.v1", service: [{ name: "S", method: [method] }] };
  const { api, locator } = readApi(
    [[DEFINITION, { bytes: encodeFile(file), target: true }]],
    undefined,
  );
  const { diagnostics } = checkApi(api, locator, undefined, RULES);
  return diagnostics.map(({ rule, path, message }) => `${rule} ${path?.slice(4)}: ${message}`);
}

const EVENT: WireField = [AUDIT_FIELD.event, "a.b"];
const AUDIT = [POLICY_FIELD.audit, encode(EVENT)] as const;
const PUBLIC = [
  [POLICY_FIELD.exposure, EXPOSURES.indexOf("PUBLIC")],
  [POLICY_FIELD.rateLimit, encode([1, 1])],
] as const;

// No compiler writes these, but an annotation of a later version holds them.
test.each([7, 5, -1])("an unknown exposure %i is a finding, and not a known exposure", (number) => {
  const gateway = [POLICY_FIELD.gateway, encode([1, true])] as const;
  const authz = [POLICY_FIELD.authz, encode()] as const;
  expect(findingsOf([POLICY_FIELD.exposure, number], AUDIT, gateway, authz)).toEqual([
    `ACCESS_EXPOSURE_REQUIRED 4,50810,1: exposure ${number} is not one of PUBLIC, AUTHENTICATED, AUTHORIZED, INTERNAL, SYSTEM`,
  ]);
});

test.each([7, 1, -1])("an unknown authz.mode %i is a finding [ANNO-4]", (number) => {
  const authz = encode(
    [AUTHZ_FIELD.action, "view"],
    [AUTHZ_FIELD.resource, "skill:*"],
    [AUTHZ_FIELD.mode, number],
  );
  const exposure = [POLICY_FIELD.exposure, EXPOSURES.indexOf("AUTHORIZED")] as const;
  const limit = [POLICY_FIELD.rateLimit, encode([1, 1])] as const;
  expect(findingsOf(exposure, AUDIT, limit, [POLICY_FIELD.authz, authz])).toEqual([
    `ACCESS_AUTHZ_REQUIRED 4,50810,2,4: authz.mode ${number} is not one of CHECK_ONLY`,
  ]);
});

test.each([
  ["audit.risk_level", AUDIT_FIELD.riskLevel],
  ["audit.risk", AUDIT_FIELD.risk],
])("an unknown %s is a finding", (_, field) => {
  expect(findingsOf(...PUBLIC, [POLICY_FIELD.audit, encode(EVENT, [field, 7])])).toEqual([
    `ACCESS_AUDIT_EVENT_VALID 4,50810,3,${field}: the risk level 7 is not one of LOW, MEDIUM, HIGH, CRITICAL`,
  ]);
});

test("an unknown risk level contradicts no known one", () => {
  const audit = encode(
    EVENT,
    [AUDIT_FIELD.riskLevel, 7],
    [AUDIT_FIELD.risk, RISK_LEVELS.indexOf("LOW")],
  );
  expect(findingsOf(...PUBLIC, [POLICY_FIELD.audit, audit])).toHaveLength(1);
});

test("of several occurrences the last is used, as in protobuf", () => {
  expect(findingsOf([POLICY_FIELD.exposure, 7], AUDIT, ...PUBLIC)).toEqual([]);
});
