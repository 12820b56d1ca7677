import { parseUniqueJson } from "../../../common/scan-json.ts";
import type { JsonObject } from "./jwt-header.ts";
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
 * @throws Error if they cannot be read now, or the provider is another one
 */
export async function fetchKeys(options: KeySourceOptions): Promise<readonly VerificationKey[]> {
  const { jwksUrl, discoveryUrl } = options;
  const url = jwksUrl ?? (await discoverKeySet(options));
  const key = jwksUrl !== undefined ? "jwks_url" : discoveryUrl ? "discovery_url" : "issuer";
  const keySet = await fetchJsonObject(url, key);
  return readKeySet(keySet, options.algorithms);
}

/**
 * The usable keys of a key set (RFC 7517); those of other kinds are left out.
 *
 * @throws Error if it is not a key set, or too large
 */
export function readKeySet(
  { keys }: JsonObject,
  algorithms: ReadonlySet<string>,
): readonly VerificationKey[] {
  if (!Array.isArray(keys)) throw new Error("the key set of the provider has no keys");
  if (keys.length > MAX_KEYS) {
    throw new Error(`the key set of the provider has more than ${MAX_KEYS} keys`);
  }
  const usable: VerificationKey[] = [];
  for (const jwk of keys as unknown[]) {
    if (typeof jwk !== "object" || jwk === null || Array.isArray(jwk)) continue;
    const key = readVerificationKey(jwk as JsonObject, algorithms);
    if (key !== undefined) usable.push(key);
  }
  return usable;
}

async function discoverKeySet({ issuer, discoveryUrl }: KeySourceOptions): Promise<string> {
  const url = discoveryUrl ?? `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const document = await fetchJsonObject(url, discoveryUrl ? "discovery_url" : "issuer");
  if (document["issuer"] !== issuer) {
    throw new Error(
      `the discovery document ${url} has the issuer ${JSON.stringify(document["issuer"])}, not ${issuer}`,
    );
  }
  const keySet = document["jwks_uri"];
  const target = typeof keySet === "string" ? URL.parse(keySet) : null;
  // A document that was read over TLS must not lead to keys that an attacker on the network can
  // replace.
  const schemes = url.startsWith("https:") ? ["https:"] : ["https:", "http:"];
  if (target === null || !schemes.includes(target.protocol)) {
    throw new Error(`the discovery document ${url} has no jwks_uri with ${schemes.join(" or ")}`);
  }
  return target.href;
}

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/**
 * Reads a JSON object from the provider: within 5 seconds, 1 MiB at most, and without redirects,
 * which could lead anywhere.
 *
 * @param key the key of `security.authn.oidc` that leads there
 * @throws Error for every failure, with the address and the key in its message
 */
async function fetchJsonObject(url: string, key: string): Promise<JsonObject> {
  try {
    const response = await fetch(url, {
      redirect: "error",
      headers: { accept: "application/json, application/jwk-set+json" },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`it returned the status ${response.status}`);
    }
    const value = parseUniqueJson(await readText(response));
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new Error("the response is not a JSON object");
    }
    return value as JsonObject;
  } catch (error) {
    // Without the cause, whose message the log would append once more.
    throw new Error(`${url} (see security.authn.oidc.${key}) cannot be read: ${reasonOf(error)}`);
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop ends the connection.
    if (size > MAX_BYTES) throw new Error(`the response has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

/** The message of fetch is only "fetch failed"; its cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
