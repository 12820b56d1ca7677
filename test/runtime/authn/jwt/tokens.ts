import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A key pair of the provider. */
export interface SigningKey {
  readonly id: string;
  readonly algorithm: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The public key in the form of a key set. */
  readonly jwk: Record<string, unknown>;
}

/** Marks a claim or a header that is left out. */
export const ABSENT = undefined;

export function rsaKey(id: string, algorithm = "RS256", modulusLength = 2048): SigningKey {
  const pair = generateKeyPairSync("rsa", { modulusLength });
  return keyOf(id, algorithm, pair);
}

export function ecKey(id: string, algorithm: "ES256" | "ES512" = "ES256"): SigningKey {
  const namedCurve = algorithm === "ES256" ? "P-256" : "P-521";
  return keyOf(id, algorithm, generateKeyPairSync("ec", { namedCurve }));
}

function keyOf(
  id: string,
  algorithm: string,
  pair: { privateKey: KeyObject; publicKey: KeyObject },
): SigningKey {
  const jwk = { ...pair.publicKey.export({ format: "jwk" }), kid: id, alg: algorithm, use: "sig" };
  return { id, algorithm, ...pair, jwk };
}

export const encode = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Signs a token by hand, so that it may contain what no library would write. */
export function signToken(
  key: SigningKey,
  claims: Record<string, unknown> | string,
  header: Record<string, unknown> | string = {},
): string {
  const full =
    typeof header === "string"
      ? header
      : { alg: key.algorithm, kid: key.id, typ: "JWT", ...header };
  const text = `${encode(full)}.${encode(claims)}`;
  return `${text}.${signatureOf(key, text)}`;
}

function signatureOf(key: SigningKey, text: string): string {
  const digest = `sha${key.algorithm.slice(2)}`;
  const options = key.algorithm.startsWith("ES")
    ? { key: key.privateKey, dsaEncoding: "ieee-p1363" as const }
    : key.privateKey;
  return sign(digest, Buffer.from(text), options).toString("base64url");
}

/** Signs with a shared secret, as an attacker who knows only public values would. */
export function signWithSecret(
  secret: string | Buffer,
  claims: Record<string, unknown>,
  header: Record<string, unknown>,
): string {
  const text = `${encode({ alg: "HS256", typ: "JWT", ...header })}.${encode(claims)}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}
