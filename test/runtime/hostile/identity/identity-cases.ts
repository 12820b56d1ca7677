/** Forged identities, and the outcome of each. */
import { INTERNAL_TOKEN, SYSTEM_TOKEN } from "../../support/vault-server.ts";
import type { Field } from "../support/raw-http.ts";
import type { Mode } from "../support/world.ts";

/** The sent fields, the peer and the outcome: `-` is served without a caller, a name as that caller. */
export interface Case {
  readonly fields: readonly Field[];
  readonly from?: "trusted" | "stranger";
  /** One cell for each exposure, or one for all; the same in all modes, or by mode. */
  readonly comes: string | Readonly<Record<Mode, string>>;
  /** Only over this version of HTTP; the other cannot send it. */
  readonly only?: "1.1" | "2";
}

export const NOBODY = "- 401 401 401 401";
const REFUSED = "400";
export const ALICE = "alice alice alice 403 403";
/** The caller of the gateway's headers, in the modes that use them. */
const byGateway = (row: string) => ({ gateway_trusted: row, idp_jwt: NOBODY, hybrid: row });

export const verified: Field = ["X-Svc-Auth-Verified", "true"];
export const userId = (id: string): Field => ["X-Svc-User-Id", id];
const token = (text: string): Field => ["X-Svc-Internal-Token", text];

export const CASES: Readonly<Record<string, Case>> = {
  "1 alice's headers from a trusted peer, to compare": {
    fields: [verified, userId("alice")],
    from: "trusted",
    comes: byGateway(ALICE),
  },
  "1, 8 verified headers from outside the trusted peers": {
    fields: [verified, userId("alice")],
    comes: NOBODY,
  },
  "1, 8 claim headers from outside the trusted peers": {
    fields: [["X-Svc-External-Sub", "alice"]],
    comes: NOBODY,
  },
  "1 the principal header from outside the trusted peers": {
    fields: [verified, ["X-Svc-Principal", "alice"], ["X-Svc-Roles", "admin"]],
    comes: NOBODY,
  },
  "1 a user id without the verified header is ignored": {
    fields: [userId("alice")],
    from: "trusted",
    comes: NOBODY,
  },
  "2 a wrong internal token": { fields: [token("wrong-internal-token")], comes: NOBODY },
  "2 an empty internal token": { fields: [token("")], comes: NOBODY },
  "2 a blank internal token": { fields: [token("   ")], comes: NOBODY, only: "1.1" },
  "2 the internal token as a Bearer": {
    fields: [["Authorization", `Bearer ${INTERNAL_TOKEN}`]],
    comes: NOBODY,
  },
  "2 a wrong internal token beside alice's headers": {
    fields: [token("wrong"), verified, userId("alice")],
    from: "trusted",
    comes: NOBODY,
  },
  "2 the internal token allows INTERNAL and no more": {
    fields: [token(INTERNAL_TOKEN)],
    comes: "hub hub 403 hub 403",
  },
  "2 the system token allows SYSTEM and no more": {
    fields: [token(SYSTEM_TOKEN)],
    comes: "system system 403 403 system",
  },
  "2 a header that claims an internal call is ignored": {
    fields: [["X-Svc-Internal-Jwt", "x"], ["X-Internal-Jwt", "x"], userId("hub"), verified],
    comes: NOBODY,
  },
  "43 an internal token that is too short": {
    fields: [token(INTERNAL_TOKEN.slice(0, -1))],
    comes: NOBODY,
  },
  "43 an internal token that is too long": {
    fields: [token(`${INTERNAL_TOKEN}x`)],
    comes: NOBODY,
  },
  "43 an internal token of the same length": {
    fields: [token(`${INTERNAL_TOKEN.slice(0, -1)}x`)],
    comes: NOBODY,
  },
  "43 both tokens, one after the other": {
    fields: [token(`${INTERNAL_TOKEN}${SYSTEM_TOKEN}`)],
    comes: NOBODY,
  },
  "4, 11 a user id twice": {
    fields: [verified, userId("alice"), userId("admin")],
    from: "trusted",
    comes: REFUSED,
  },
  "4, 11 a user id twice, from a stranger": {
    fields: [verified, userId("alice"), userId("alice")],
    comes: REFUSED,
  },
  "4 two internal tokens": { fields: [token(INTERNAL_TOKEN), token("x")], comes: REFUSED },
  "4 the verified header twice": {
    fields: [verified, ["X-Svc-Auth-Verified", "false"], userId("alice")],
    from: "trusted",
    comes: REFUSED,
  },
  "5 underscores": { fields: [verified, ["X_Svc_User_Id", "alice"]], comes: REFUSED },
  "5 one underscore, from a trusted peer": {
    fields: [verified, ["X-Svc-User_Id", "alice"]],
    from: "trusted",
    comes: REFUSED,
  },
  "5 underscores in the internal token": {
    fields: [["X_Svc_Internal_Token", INTERNAL_TOKEN]],
    comes: REFUSED,
  },
  "6 dots": { fields: [verified, ["X.Svc.User.Id", "alice"]], comes: REFUSED },
  "6 one dot, from a trusted peer": {
    fields: [["X-Svc-External.Sub", "alice"]],
    from: "trusted",
    comes: REFUSED,
  },
  "7 Connection names the user id": {
    fields: [["Connection", "close, X-Svc-User-Id"], verified, userId("alice")],
    from: "trusted",
    comes: REFUSED,
    only: "1.1",
  },
  "7 a second Connection names another spelling": {
    fields: [
      ["Connection", "close"],
      ["Connection", "x_svc_auth_verified"],
    ],
    comes: REFUSED,
    only: "1.1",
  },
  "9 an empty user id": { fields: [verified, userId("")], from: "trusted", comes: NOBODY },
  "9 an empty user id before a claim": {
    fields: [verified, userId(""), ["X-Svc-External-Sub", "alice"]],
    from: "trusted",
    comes: byGateway(ALICE),
  },
  "9 a blank user id": {
    fields: [verified, userId("\t ")],
    from: "trusted",
    comes: NOBODY,
    only: "1.1",
  },
  "9 a comma-joined user id": {
    fields: [verified, userId("alice, admin")],
    from: "trusted",
    comes: { gateway_trusted: REFUSED, idp_jwt: NOBODY, hybrid: REFUSED },
  },
  "9 a user id with a comma and no space": {
    fields: [verified, userId("alice,")],
    from: "trusted",
    comes: { gateway_trusted: REFUSED, idp_jwt: NOBODY, hybrid: REFUSED },
  },
  "9 a user id that is a member set": {
    fields: [verified, userId("group:x#member")],
    from: "trusted",
    comes: { gateway_trusted: REFUSED, idp_jwt: NOBODY, hybrid: REFUSED },
  },
  "9 a user id that is a wildcard": {
    fields: [verified, userId("*")],
    from: "trusted",
    comes: { gateway_trusted: REFUSED, idp_jwt: NOBODY, hybrid: REFUSED },
  },
  "9 a user id that is not ASCII": {
    fields: [verified, userId("\u00e0lice")],
    from: "trusted",
    comes: REFUSED,
  },
  "9 a user id that is not ASCII, from a stranger": {
    fields: [verified, userId("\u00e0lice")],
    comes: REFUSED,
  },
  "9 a user id of 257 characters": {
    fields: [verified, userId("a".repeat(257))],
    from: "trusted",
    comes: { gateway_trusted: REFUSED, idp_jwt: NOBODY, hybrid: REFUSED },
  },
  "9 a user id with a tab in it": {
    fields: [verified, userId("ali\tce")],
    from: "trusted",
    comes: REFUSED,
  },
  "11 a user id as binary metadata": {
    fields: [verified, ["X-Svc-User-Id-Bin", "YWxpY2U="]],
    comes: REFUSED,
  },
  "11 a claim as binary metadata, from a trusted peer": {
    fields: [["X-Svc-External-Sub-Bin", "YWxpY2U="]],
    from: "trusted",
    comes: REFUSED,
  },
  "11 the internal token as binary metadata": {
    fields: [["X-Svc-Internal-Token-Bin", Buffer.from(INTERNAL_TOKEN).toString("base64")]],
    comes: REFUSED,
  },
  "11 unknown identity headers": {
    fields: [
      ["grpc-user", "alice"],
      ["user", "alice"],
      ["principal", "alice"],
    ],
    comes: NOBODY,
  },
  "12 headers that would control a skip list": {
    fields: [
      ["X-Forwarded-Uri", "/v1/notices/n"],
      ["X-Forwarded-Path", "/healthz"],
      ["X-Envoy-Original-Path", "/healthz"],
      ["X-Original-Url", "/healthz"],
      ["X-Rewrite-Url", "/healthz"],
      ["X-Http-Method-Override", "OPTIONS"],
      ["X-Method-Override", "GET"],
    ],
    from: "trusted",
    comes: NOBODY,
  },
};
