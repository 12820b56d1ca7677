import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, type JWK } from "jose";

/** A public key that signatures of assertions are verified with. */
export interface PublicKey {
  /** Only what is public, and what restricts its use: `alg` and `kid`. */
  readonly jwk: JsonWebKey;
  /** RFC 7638. */
  readonly thumbprint: string;
}

const LONGEST = 8192;
const LONGEST_KID = 128;
const LONGEST_RSA = 8192;
const LARGEST_EXPONENT = 2n ** 32n;
const PRIVATE = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];
const KINDS = "must be a key of RSA with 2048 to 8192 bits, P-256 or Ed25519";
const EVEN =
  "has an even modulus or exponent, which no pair of RSA has: send the public key of a new pair";
const FORM = "must be a JWK (JSON) or PEM (BEGIN PUBLIC KEY)";
const IS_PRIVATE =
  "is a private key: send the public one of a new pair, since others may have this one now";

/**
 * Reads a public key, as a JWK or PEM. Only those are taken that the algorithms of the token endpoint
 * have; a private key is refused, and not turned into its public one.
 *
 * @returns what is wrong with it, as a text
 */
export async function readPublicKey(text: string): Promise<PublicKey | string> {
  if (text.length > LONGEST) return `must have at most ${LONGEST} characters`;
  const trimmed = text.trim();
  return trimmed.startsWith("{") ? readJwk(trimmed) : readPem(trimmed);
}

async function readPem(text: string): Promise<PublicKey | string> {
  if (/BEGIN [A-Z ]*PRIVATE KEY/.test(text)) return IS_PRIVATE;
  // Else Node.js takes certificates, too, and the first of several keys.
  if (!/^-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----$/.test(text)) {
    return FORM;
  }
  return checked(text, {});
}

async function readJwk(text: string): Promise<PublicKey | string> {
  const given = parse(text);
  if (given === undefined) return FORM;
  if (PRIVATE.some((name) => Object.hasOwn(given, name))) return IS_PRIVATE;
  const { kid, alg, use, key_ops: operations } = given;
  if (use !== undefined && use !== "sig") return "must have no use but sig";
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) {
    return "must have verify in its key_ops";
  }
  if (kid !== undefined && !isKid(kid)) {
    return `must have a kid of 1 to ${LONGEST_KID} printable ASCII characters, or none`;
  }
  if (alg !== undefined && typeof alg !== "string") return FORM;
  return checked(
    { key: given as JsonWebKey, format: "jwk" },
    { ...(kid === undefined ? {} : { kid }), ...(alg === undefined ? {} : { alg }) },
  );
}

async function checked(
  key: Parameters<typeof createPublicKey>[0],
  rest: { readonly kid?: string; readonly alg?: string },
): Promise<PublicKey | string> {
  const read = tryRead(key);
  if (read === undefined) return KINDS;
  const algorithms = algorithmsOf(read);
  if (algorithms === undefined) return KINDS;
  const jwk = read.export({ format: "jwk" });
  // Such a modulus is factored at once, and whoever knows the factors signs.
  if (isEven(jwk.n) || isEven(jwk.e)) return EVEN;
  if (rest.alg !== undefined && !algorithms.includes(rest.alg)) {
    return `must have no alg but ${algorithms.join(" or ")}`;
  }
  return { jwk: { ...jwk, ...rest }, thumbprint: await calculateJwkThumbprint(jwk as JWK) };
}

/** The algorithms that a key is accepted with; undefined for a key that is not. */
function algorithmsOf({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details = {},
}: KeyObject): readonly string[] | undefined {
  const { modulusLength = 0, publicExponent = 0n, namedCurve } = details;
  switch (type) {
    case "rsa": {
      // The time that a verification takes grows with both.
      const isSize = modulusLength >= 2048 && modulusLength <= LONGEST_RSA;
      const isExponent = publicExponent >= 3n && publicExponent <= LARGEST_EXPONENT;
      return isSize && isExponent ? ["RS256", "PS256"] : undefined;
    }
    case "ec":
      return namedCurve === "prime256v1" ? ["ES256"] : undefined;
    case "ed25519":
      return ["EdDSA", "Ed25519"];
    default:
      return undefined;
  }
}

/** Whether a number of a JWK is even; what has none is not. */
function isEven(number: string | undefined): boolean {
  const last = Buffer.from(number ?? "", "base64url").at(-1);
  return last !== undefined && last % 2 === 0;
}

function tryRead(key: Parameters<typeof createPublicKey>[0]): KeyObject | undefined {
  try {
    return createPublicKey(key);
  } catch {
    return undefined;
  }
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isKid(kid: unknown): kid is string {
  return typeof kid === "string" && kid.length <= LONGEST_KID && /^[\x20-\x7e]+$/.test(kid);
}
