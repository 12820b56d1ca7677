import type { KoaContextWithOIDC } from "oidc-provider";

/** The details of an audit event that name the client of a request. */
export function clientDetails(ctx: KoaContextWithOIDC | undefined): {
  readonly details?: Readonly<Record<string, string>>;
} {
  const client = ctx?.oidc.client?.clientId;
  return client === undefined ? {} : { details: { client } };
}
