/** Somebody who can log in, as the parts of the service exchange it. */
export interface Account {
  /** UUID; the claims `sub` and `id`. */
  readonly id: string;
  /** The subject type of the authorization model. */
  readonly subjectType: "user" | "service_account";
  /** The name that the person logs in with. */
  readonly username: string;
  /** The display name. */
  readonly displayName: string;
  /** The e-mail address; empty if there is none. */
  readonly email: string;
  /** `iam.organization`: the claim `owner`. */
  readonly organizationId: string;
  /** Whether it can neither log in nor refresh. */
  readonly disabled: boolean;
}
