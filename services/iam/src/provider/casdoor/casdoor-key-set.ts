import { boundedFetch, type ProviderFetch } from "../oidc/bounded-fetch.ts";

/**
 * Where the keys of one application are. The key set of Casdoor without an application has the
 * certificates of all organizations, whose administrators could sign tokens of any other.
 */
export function applicationKeySetUrl(endpoint: string, application: string): string {
  const origin = endpoint.replace(/\/+$/, "");
  return `${origin}/.well-known/${encodeURIComponent(application)}/jwks`;
}

/**
 * Reads a key set.
 *
 * @throws Error where it cannot be read now, with the address in its message
 */
export async function fetchKeySet(url: string, fetch?: ProviderFetch): Promise<object> {
  const response = await boundedFetch(fetch)(url, { headers: { accept: "application/json" } });
  const type = response.headers.get("content-type") ?? "";
  if (response.status !== 200 || !type.toLowerCase().startsWith("application/json")) {
    await response.body?.cancel();
    throw new Error(
      `${url} has no key set (status ${response.status}, type ${JSON.stringify(type.slice(0, 64))}): this Casdoor may be too old, then set security.authn.oidc.jwks_url`,
    );
  }
  const value: unknown = await response.json();
  if (typeof value !== "object" || value === null) throw new Error(`${url} is not a key set`);
  return value;
}
