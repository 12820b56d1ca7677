import { AUTHN_SOURCES } from "../../api/authn-mode.ts";
import type { RevocationList } from "../authn/jwt/revocation-list.ts";
import { StartUpError } from "../error/start-up-error.ts";
import type { ProcessLogger } from "../logging/create-logger.ts";
import type { Metrics } from "../observers/metrics/metrics.ts";
import type { FollowedRevocations } from "../revocation/followed-revocations.ts";
import type { Cleanup } from "./cleanup.ts";
import type { ServerReadiness } from "./readiness.ts";
import type { ServerOptions } from "./server-options.ts";

/** What the revocations of a server are connected with. */
export interface RevocationsContext {
  readonly options: ServerOptions;
  readonly logger: ProcessLogger;
  readonly metrics: Metrics;
  readonly readiness: ServerReadiness;
  readonly cleanup: Cleanup;
}

/**
 * The list of revoked tokens: that of the options, that of IAM if the configuration names it, or
 * both. Serving does not wait for IAM: tokens are refused until its revocations have arrived.
 *
 * @throws StartUpError if its certificates cannot be used
 */
export async function openRevocations(
  context: RevocationsContext,
): Promise<RevocationList | undefined> {
  const { options, logger, metrics, readiness, cleanup } = context;
  const { authn } = options.configuration.config.security;
  const { revocation } = authn;
  const given = options.revocations;
  if (revocation === undefined || !authn.enabled || !AUTHN_SOURCES[authn.mode].tokens) return given;
  // Loaded on demand: the client and the messages are large.
  const { followIam } = await import("../revocation/follow-iam.ts");
  let followed: FollowedRevocations;
  try {
    followed = followIam({ config: revocation, header: authn.internal_call.header, logger });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const problem = `security.authn.revocation cannot be used: ${error.message}`;
    throw new StartUpError([problem], { cause: error });
  }
  cleanup.add(() => followed.close());
  readiness.add("revocations", () => followed.readiness());
  metrics.revocations(() => ({ isCurrent: followed.state === "live", size: followed.size }));
  if (given === undefined) return followed;
  return { isRevoked: (token) => given.isRevoked(token) || followed.isRevoked(token) };
}
