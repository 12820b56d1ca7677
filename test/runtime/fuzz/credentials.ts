import { ABSENT, ecKey, encode, signToken, signWithSecret } from "../authn/jwt/tokens.ts";
import { nowSeconds, tokenSource } from "../hostile/support/tokens.ts";
import { INTERNAL_TOKEN, SYSTEM_TOKEN } from "../support/vault-server.ts";
import type { Field, Secrets } from "./oracle.ts";
import { mutateText, type Random } from "./random.ts";

/** The key of the issuer under fuzz. */
export const KEY = ecKey("one");
const OTHER = ecKey("one");
const SUBJECTS = 20;

/** Credentials to attach: valid ones, and tokens that look valid. */
export interface Credentials extends Secrets {
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

export function makeCredentials(issuer: string): Credentials {
  const { claims, token } = tokenSource(() => issuer, KEY);
  const tokens = new Map<string, string>();
  const later = { exp: nowSeconds() + 3_600 };
  for (let index = 0; index < SUBJECTS; index++) {
    tokens.set(token({ ...later, sub: `u${index}` }), `u${index}`);
    tokens.set(token({ ...later, jti: String(index) }), "alice");
  }
  const pem = KEY.publicKey.export({ format: "pem", type: "spki" }) as string;
  const invalid = [
    token({ exp: nowSeconds() - 99, iat: nowSeconds() - 9_999 }),
    token({ exp: ABSENT }),
    token({ exp: "9999999999" }),
    token({ exp: 1e308 }),
    token({ aud: "other" }),
    token({ aud: ABSENT }),
    token({ iss: `${issuer}/` }),
    token({ sub: "" }),
    token({ sub: 1 }),
    token({ sub: "alice#member" }),
    token({ nbf: nowSeconds() + 999 }),
    token({ tokenType: "refresh-token" }),
    token({ nonce: "n" }),
    token({}, { kid: "two" }),
    token({}, { jku: "http://127.0.0.1:1/keys" }),
    token({}, { typ: "logout+jwt" }),
    signToken(OTHER, claims()),
    signWithSecret(pem, claims(), { kid: "one" }),
    signToken(KEY, `{"sub":"admin",${JSON.stringify(claims()).slice(1)}`),
    `${encode({ alg: "none" })}.${encode(claims())}.`,
    `${encode({ alg: "none", kid: "one" })}.${encode(claims())}.AAAA`,
  ];
  return {
    internal: INTERNAL_TOKEN,
    system: SYSTEM_TOKEN,
    tokens,
    valid: [...tokens.keys()],
    invalid,
  };
}

const TOKEN_PIECES = [".", "=", "-", "_", "+", "/", " ", ",", "A", "eyJ", "\t", "%2e", "é"];

/** The fields of one valid credential, often one that the target accepts. */
export function attach(random: Random, { valid, invalid }: Credentials, target = ""): Field[] {
  if (random.chance(40) && /reconcile|UploadDocument|InspectDocuments/i.test(target)) {
    return [["X-Svc-Internal-Token", INTERNAL_TOKEN]];
  }
  if (random.chance(40) && /reset|DumpDocuments/i.test(target))
    return [["X-Svc-Internal-Token", SYSTEM_TOKEN]];
  if (random.chance(30) && /open|Document/.test(target)) {
    return random.chance(50)
      ? [["X-Svc-External-Sub", "alice"]]
      : [["Authorization", `Bearer ${valid[1 + 2 * random.below(SUBJECTS)]}`]];
  }
  // Alice has the most permissions; other callers have distinct names.
  const id = random.chance(50) ? "alice" : `g${random.name()}`;
  switch (random.below(11)) {
    case 0:
    case 1:
      return [
        ["X-Svc-Auth-Verified", random.pick(["true", "TRUE", "True", "false", "1", ""])],
        [random.pick(["X-Svc-User-Id", "X-Svc-Principal"]), id],
      ];
    case 2:
      return [
        ["X-Svc-Auth-Verified", "true"],
        ["X-Svc-User-Id", id],
        ["X-Svc-Roles", random.pick(["admin", "a,b", '["a"]', "[", "", "x".repeat(300)])],
      ];
    case 3:
      return [[random.pick(["X-Svc-External-Sub", "X-Svc-External-Id"]), id]];
    case 4:
    case 5:
      return [["Authorization", `Bearer ${random.pick(valid)}`]];
    case 6:
      return [["Authorization", `Bearer ${random.pick(invalid)}`]];
    case 7:
      return [["Authorization", `Bearer ${mutateToken(random, random.pick(valid))}`]];
    case 8:
      return [["X-Svc-Internal-Token", INTERNAL_TOKEN]];
    case 9:
      return [["X-Svc-Internal-Token", SYSTEM_TOKEN]];
    default:
      return [];
  }
}

/** Changes the text of a token, or a byte after its encoding, or swaps its parts. */
function mutateToken(random: Random, token: string): string {
  const parts = token.split(".");
  const which = random.below(3);
  switch (random.below(4)) {
    case 0: {
      const bytes = Buffer.from(parts[which] as string, "base64url");
      bytes[random.below(bytes.length)] = random.below(256);
      parts[which] = bytes.toString("base64url");
      return parts.join(".");
    }
    case 1:
      parts[which] = parts[random.below(3)] as string;
      return parts.join(".");
    default:
      return mutateText(random, token, TOKEN_PIECES);
  }
}
