import type { Call } from "../call/call.ts";
import { injectTraceContext } from "../call/call-ids.ts";
import { requestInfoStage } from "../call/request-info.ts";
import type { Stage } from "../chain/call-stages.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { authenticationStage } from "./authentication-stage.ts";
import { peerTrustOf } from "./check-authn-config.ts";
import { type AuthenticatorDependencies, createAuthenticators } from "./create-authenticators.ts";
import { IdentityHeaderNames, identityHeaderStage } from "./gateway/check-identity-headers.ts";
import { CrossSiteGuard } from "./gateway/cross-site.ts";

/** The stages of the chain that identify the caller and the client. */
export interface IdentificationStages {
  readonly contextInjection: (call: Call) => void;
  readonly requestInfo: (call: Call) => void;
  readonly metadata: (call: Call) => void;
  readonly authentication: Stage;
}

/**
 * The stages from context injection to authentication, by a configuration that
 * `checkAuthnConfig` has nothing to say of. Nothing is fetched before the first token.
 */
export function identificationStages(
  config: ServiceConfig,
  dependencies: AuthenticatorDependencies,
): IdentificationStages {
  const { events } = dependencies;
  const { enabled, mode, internal_call: internal } = config.security.authn;
  const internalHeader = internal.header.toLowerCase();
  return {
    contextInjection: injectTraceContext,
    requestInfo: requestInfoStage(peerTrustOf(config)),
    metadata: identityHeaderStage({
      names: new IdentityHeaderNames(internalHeader),
      internalHeader: internal.enabled ? internalHeader : undefined,
      events,
    }),
    authentication: authenticationStage({
      authenticators: createAuthenticators(config, dependencies),
      isRequired: enabled && mode !== "disabled",
      crossSite: new CrossSiteGuard(config.server.http?.cors.allowed_origins ?? []),
      events,
    }),
  };
}
