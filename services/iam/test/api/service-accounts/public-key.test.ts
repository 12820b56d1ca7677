/** Public keys that administrators send, as JWKs and PEM. */
import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { expect, test } from "vitest";
import { readPublicKey } from "../../../src/api/service-accounts/public-key.ts";

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ed = generateKeyPairSync("ed25519");
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }) as string;
const jwk = (key: KeyObject, more: object = {}) =>
  JSON.stringify({ ...key.export({ format: "jwk" }), ...more });
const privatePem = ec.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
const rsaWith = (numbers: object) => jwk(rsa.publicKey, numbers);
const pemOf = (numbers: object) =>
  pem(createPublicKey({ key: JSON.parse(rsaWith(numbers)), format: "jwk" }));

/** The modulus of a key, and one less. */
function evenOf(key: KeyObject): string {
  const modulus = Buffer.from(key.export({ format: "jwk" }).n ?? "", "base64url");
  modulus[modulus.length - 1] = (modulus.at(-1) ?? 0) - 1;
  return modulus.toString("base64url");
}

test.each([
  ["text", "no key", "must be a JWK"],
  ["an empty object", "{}", "must be a key of RSA"],
  ["JSON that ends too early", "{", "must be a JWK"],
  ["a text that is too long", `{"x":"${"x".repeat(8192)}"}`, "must have at most 8192"],
  ["a private key as PEM", privatePem, "is a private key"],
  ["an old form of a private key", "-----BEGIN RSA PRIVATE KEY-----\nAA==\n", "is a private key"],
  ["a private JWK", jwk(ec.privateKey), "is a private key"],
  ["a private JWK of RSA", jwk(rsa.privateKey), "is a private key"],
  ["a secret as a JWK", '{"kty":"oct","k":"AAAA"}', "is a private key"],
  ["a certificate", "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----", "PEM (BEGIN"],
  ["two keys", pem(ec.publicKey) + pem(ed.publicKey), "PEM (BEGIN"],
  [
    "PEM without a key",
    "-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----",
    "must be a key",
  ],
  [
    "a short key of RSA",
    pem(generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey),
    "2048 to 8192 bits",
  ],
  [
    "a large exponent",
    JSON.stringify({ ...JSON.parse(jwk(rsa.publicKey)), e: "A".repeat(8).concat("AAEAAAAB") }),
    "must be a key of RSA",
  ],
  ["an even modulus", rsaWith({ n: evenOf(rsa.publicKey) }), "has an even modulus"],
  ["an even modulus as PEM", pemOf({ n: evenOf(rsa.publicKey) }), "has an even modulus"],
  ["an even exponent", rsaWith({ e: "AQAA" }), "even modulus or exponent"],
  ["the exponent 1", rsaWith({ e: "AQ" }), "must be a key of RSA"],
  ["the exponent 2", rsaWith({ e: "Ag" }), "must be a key of RSA"],
  [
    "another curve",
    pem(generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey),
    "P-256 or Ed25519",
  ],
  ["a key that cannot sign", pem(generateKeyPairSync("x25519").publicKey), "P-256 or Ed25519"],
  [
    "a point that is not on the curve",
    JSON.stringify({ kty: "EC", crv: "P-256", x: "A".repeat(43), y: "A".repeat(43) }),
    "must be a key",
  ],
  ["a key for encryption", jwk(ec.publicKey, { use: "enc" }), "no use but sig"],
  ["other operations", jwk(ec.publicKey, { key_ops: ["encrypt"] }), "key_ops"],
  ["operations that are not a list", jwk(ec.publicKey, { key_ops: "verify" }), "key_ops"],
  ["another algorithm", jwk(ec.publicKey, { alg: "RS256" }), "no alg but ES256"],
  ["no algorithm at all", jwk(ec.publicKey, { alg: "none" }), "no alg but ES256"],
  ["a symmetric algorithm", jwk(rsa.publicKey, { alg: "HS256" }), "no alg but RS256 or PS256"],
  ["an algorithm that is not a text", jwk(ec.publicKey, { alg: 1 }), "must be a JWK"],
  ["an empty kid", jwk(ec.publicKey, { kid: "" }), "kid of 1 to 128"],
  ["a long kid", jwk(ec.publicKey, { kid: "x".repeat(129) }), "kid of 1 to 128"],
  ["a kid with a line end", jwk(ec.publicKey, { kid: "a\nb" }), "kid of 1 to 128"],
  ["a kid that is not a text", jwk(ec.publicKey, { kid: 1 }), "kid of 1 to 128"],
])("%s is refused [IAM-32]", async (_, text, problem) => {
  expect(await readPublicKey(text)).toContain(problem);
});

test.each([
  ["RSA", rsa.publicKey],
  ["P-256", ec.publicKey],
  ["Ed25519", ed.publicKey],
])(
  "a key of %s is read from PEM and from a JWK, with the same thumbprint [IAM-32]",
  async (_, key) => {
    const fromPem = await readPublicKey(pem(key));
    const fromJwk = await readPublicKey(jwk(key, { use: "sig", kid: "mine", x5t: "dropped" }));
    if (typeof fromPem === "string" || typeof fromJwk === "string")
      throw new Error("it is refused");
    expect(fromPem.jwk).toEqual(key.export({ format: "jwk" }));
    expect(fromJwk.jwk).toEqual({ ...fromPem.jwk, kid: "mine" });
    expect(fromJwk.thumbprint).toBe(fromPem.thumbprint);
    expect(fromPem.thumbprint).toMatch(/^[\w-]{43}$/);
  },
);
