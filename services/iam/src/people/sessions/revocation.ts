/** Tokens that no longer count, before they expire. */
export type Revocation =
  /** Those of a session, by their claim `sid`. */
  | { readonly kind: "sid"; readonly value: string }
  /** One, by its claim `jti`. */
  | {
      readonly kind: "jti";
      readonly value: string;
      /**
       * When verifiers no longer accept it, in milliseconds since the epoch; absent, it is a token of
       * the embedded provider, whose lives are short.
       */
      readonly keepUntil?: number;
    }
  /** Those of a subject that were issued up to now. */
  | {
      readonly kind: "subject";
      /** The claim `sub`. */
      readonly value: string;
      readonly subjectType: "user" | "service_account";
      /** As of a `jti`: of the token with the longest life that is known. */
      readonly keepUntil?: number;
    };

/** A stored revocation. */
export interface StoredRevocation {
  readonly kind: "sid" | "jti" | "subject";
  readonly value: string;
  /** Of a subject. */
  readonly subjectType: string | undefined;
  /** Of a subject: the last `iat` that no longer counts, in milliseconds since the epoch. */
  readonly issuedUntil: number | undefined;
  /** When the last of the tokens has expired, by the clock of this process. */
  readonly keepUntil: number;
}

/** What revocations name tokens by. */
export interface TokenIdentity {
  readonly jti: string;
  readonly sid: string;
  readonly sub: string;
  readonly subjectType: string;
  /** Seconds since the epoch. */
  readonly iat: number;
}

/** Whether a token has been ended, as the database says at this moment. */
export type IsRevoked = (token: TokenIdentity) => Promise<boolean>;
