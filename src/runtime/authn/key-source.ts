import { fetchJsonObject } from "./fetch-json.ts";
import type { JsonObject } from "./jwt-parts.ts";
import { readVerificationKey, type VerificationKey } from "./verification-key.ts";

/** Where the keys of a provider are, and which are wanted. */
export interface KeySourceOptions {
  readonly issuer: string;
  /** The discovery document; absent, that of the issuer. */
  readonly discoveryUrl?: string | undefined;
  /** The key set; absent, that of the discovery document. */
  readonly jwksUrl?: string | undefined;
  readonly algorithms: ReadonlySet<string>;
}

const MAX_KEYS = 100;

/**
 * Reads the keys of a provider by OpenID Connect discovery.
 *
 * @throws Error where they cannot be read now, or the provider is another one
 */
export async function fetchKeys(options: KeySourceOptions): Promise<readonly VerificationKey[]> {
  const { keys } = await fetchJsonObject(options.jwksUrl ?? (await discoverKeySet(options)));
  if (!Array.isArray(keys)) throw new Error("the key set of the provider has no keys");
  if (keys.length > MAX_KEYS) {
    throw new Error(`the key set of the provider has more than ${MAX_KEYS} keys`);
  }
  const usable: VerificationKey[] = [];
  for (const jwk of keys as unknown[]) {
    if (typeof jwk !== "object" || jwk === null || Array.isArray(jwk)) continue;
    const key = readVerificationKey(jwk as JsonObject, options.algorithms);
    if (key !== undefined) usable.push(key);
  }
  return usable;
}

async function discoverKeySet({ issuer, discoveryUrl }: KeySourceOptions): Promise<string> {
  const url = discoveryUrl ?? `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const document = await fetchJsonObject(url);
  if (document["issuer"] !== issuer) {
    throw new Error(
      `the discovery document ${url} is of the issuer ${JSON.stringify(document["issuer"])}, not ${issuer}`,
    );
  }
  const keySet = document["jwks_uri"];
  const target = typeof keySet === "string" ? URL.parse(keySet) : null;
  // What was read over TLS must not lead to keys that anybody on the way may write.
  const schemes = url.startsWith("https:") ? ["https:"] : ["https:", "http:"];
  if (target === null || !schemes.includes(target.protocol)) {
    throw new Error(`the discovery document ${url} has no jwks_uri with ${schemes.join(" or ")}`);
  }
  return target.href;
}
