/** The authenticated caller (spec 2.1). */
export interface Principal {
  /** The unique user identifier. */
  readonly subjectId: string;
  /** The subject type of the authorization model: `user` from the gateway or a JWT, `service` from an internal token. */
  readonly subjectType: string;
  readonly username: string;
  /** The display name. */
  readonly name: string;
  readonly email: string;
  readonly organizationId: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** Where the authentication comes from. */
  readonly source: "gateway" | "jwt" | "internal";
}
