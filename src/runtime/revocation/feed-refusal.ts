import { ServiceError } from "../error/service-error.ts";

/** Why a feed refuses this service: waiting does not help, a person must fix it. */
export interface FeedRefusal {
  /** What `/readyz` shows to anybody. */
  readonly reason: string;
  /** How to fix it, for the log. */
  readonly fix: string;
}

const REFUSALS: Readonly<Record<string, FeedRefusal>> = {
  UNAUTHORIZED: {
    reason: "IAM does not accept the internal token of this service",
    fix: "security.authn.revocation.token or token_file here must be one of security.authn.internal_call.token of IAM",
  },
  FORBIDDEN: {
    reason: "IAM does not send revocations to this service",
    fix: "the token must be one of security.authn.internal_call.token of IAM, for this service",
  },
  UNIMPLEMENTED: {
    reason: "the server that is followed has no revocations",
    fix: "security.authn.revocation.endpoint must be the gRPC address of IAM",
  },
};

/** The refusal by which a stream has ended; undefined if it ended for another reason. */
export function feedRefusal(error: unknown): FeedRefusal | undefined {
  return error instanceof ServiceError && Object.hasOwn(REFUSALS, error.code)
    ? REFUSALS[error.code]
    : undefined;
}
