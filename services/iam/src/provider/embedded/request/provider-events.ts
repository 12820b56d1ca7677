/** Something that the provider did, for the audit. Holds no secret. */
export interface ProviderEvent {
  /** The name of the audit event. */
  readonly event:
    | "login.succeeded"
    | "login.failed"
    | "login.slowed"
    | "second_factor.enrolled"
    | "second_factor.used"
    | "second_factor.failed"
    | "recovery_code.used"
    | "login.consented"
    | "login.logged_out"
    | "device.approved"
    | "refresh_token.reused"
    | "authorization_code.reused"
    | "device_code.reused"
    | "token.revoked"
    | "session.ended"
    | "signing_key.made"
    | "signing_key.rotated";
  /** How much harm it can do. */
  readonly riskLevel: "LOW" | "MEDIUM" | "HIGH" | "CRITICAL";
  /** The account that it is about. */
  readonly accountId?: string;
  /** Short values. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}
