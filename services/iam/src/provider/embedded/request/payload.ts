/** A document as `oidc-provider` has it. */
export type Payload = Readonly<Record<string, unknown>>;
