/** Something that the provider did, for the audit. Holds no secret. */
export interface ProviderEvent {
  /** The name of the audit event. */
  readonly event:
    | "login.succeeded"
    | "login.failed"
    | "login.slowed"
    | "login.consented"
    | "login.logged_out"
    | "device.approved"
    | "refresh_token.reused"
    | "authorization_code.reused"
    | "device_code.reused"
    | "token.revoked"
    | "signing_key.made"
    | "signing_key.rotated";
  /** How much harm it can do. */
  readonly riskLevel: "LOW" | "MEDIUM" | "HIGH" | "CRITICAL";
  /** The account that it is about. */
  readonly accountId?: string;
  /** Short values. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** Ends tokens before they expire, at every service that verifies them. */
export interface TokenRevocations {
  /**
   * Ends tokens.
   *
   * @param revocation.kind what `value` is: the claim `jti` of one, or the claim `sid` of those of a session
   */
  revoke(revocation: { readonly kind: "jti" | "sid"; readonly value: string }): Promise<void>;
  /** Whether a token was ended. */
  isRevoked(token: TokenIdentity): Promise<boolean>;
}

/** What revocations name tokens by. */
export interface TokenIdentity {
  readonly jti: string;
  readonly sid: string;
  readonly sub: string;
  /** Seconds since the epoch. */
  readonly iat: number;
}
