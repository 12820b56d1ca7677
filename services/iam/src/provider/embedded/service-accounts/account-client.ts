import type { Client } from "oidc-provider";
import type { ServiceAccountLogin } from "../../../people/accounts/service-accounts/service-account.ts";

/** Finds the service accounts that administrators have made. */
export interface ServiceAccountLogins {
  /** The account that may get tokens with one of its keys; undefined where none of them counts now. */
  findForLogin(id: string): Promise<ServiceAccountLogin | undefined>;
}

/** The property of a client that has its service account. */
export const ACCOUNT_PROPERTY = "account";

/** The service account of a client; undefined for the clients of the configuration. */
export function serviceAccountOf(client: Client | undefined): ServiceAccountLogin | undefined {
  return client?.[ACCOUNT_PROPERTY] as ServiceAccountLogin | undefined;
}
