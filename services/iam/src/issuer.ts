import { StartUpError } from "svc-access/runtime";

/** The path of the OpenID provider; all its other paths lie below it. */
const PROVIDER_PATH = "/v1/iam/oidc";

/**
 * The issuer of the tokens of a provider at an origin, such as `https://iam.example.com`.
 *
 * @throws StartUpError if it is not an origin, or sends tokens in plain text to another machine
 */
export function issuerAt(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const isPrivate =
    url?.protocol === "https:" || (url?.protocol === "http:" && url.hostname === "localhost");
  if (url?.origin !== origin || !isPrivate) {
    throw new StartUpError([
      `the origin of the provider is ${origin}: write https:// and a host, or http://localhost in development`,
    ]);
  }
  return `${origin}${PROVIDER_PATH}`;
}
