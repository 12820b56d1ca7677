import type { Call } from "../call/call.ts";
import { injectTraceContext } from "../call/call-ids.ts";
import { credentialTraits } from "../call/credential-kinds.ts";
import { requestInfoStage } from "../call/request-info.ts";
import type { Stage } from "../chain/call-stages.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { missingPrincipal, ServiceError } from "../error/service-error.ts";
import type { RuntimeEvents } from "../events/runtime-events.ts";
import { peerTrustOf } from "./check-authn-config.ts";
import { type AuthenticatorDependencies, createAuthenticators } from "./create-authenticators.ts";
import { CrossSiteGuard } from "./cross-site.ts";
import { IdentityHeaderNames, identityHeaderStage } from "./gateway/check-identity-headers.ts";
import type { Authenticator, Identity } from "./identity/authenticator.ts";
import { isNamedAlike } from "./identity/same-caller.ts";
import { hasBearerToken, TokenRefusedError } from "./jwt/bearer-token.ts";
import { createMissingCallerLog } from "./log-missing-caller.ts";
import { rebindingGuard } from "./rebinding-guard.ts";

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
      rebinding: rebindingGuard(config),
      events,
      logMissing: createMissingCallerLog(config, dependencies),
    }),
  };
}

/** What the authentication stage needs. */
export interface AuthenticationOptions {
  /** Called in this order. */
  readonly authenticators: readonly Authenticator[];
  /** False if authentication is switched off: then AUTHENTICATED and AUTHORIZED calls need no principal here. */
  readonly isRequired: boolean;
  readonly crossSite: CrossSiteGuard;
  /** Refuses what a page with a rebound name sends; absent where that is not possible. */
  readonly rebinding?: ((call: Call) => void) | undefined;
  readonly events: RuntimeEvents;
  /** Called before a call is refused because it has no caller. */
  readonly logMissing: (call: Call) => void;
}

/**
 * The stage "authn": identifies the caller, and refuses calls that need a caller and have none
 * (docs/requirements.md, Exposure). The authorization stage decides whether the caller may call.
 */
function authenticationStage(options: AuthenticationOptions): Stage {
  const { authenticators, events } = options;
  for (const { name } of authenticators) events.expect("authentication", name);
  const after = authenticators.map((_, index) => authenticators.slice(index + 1));

  /** Calls the authenticators from one on; returns a promise only if one of them must wait. */
  function askFrom(call: Call, first: number): void | Promise<void> {
    for (let index = first; index < authenticators.length; index++) {
      const authenticator = authenticators[index] as Authenticator;
      let found: Identity | undefined | Promise<Identity | undefined>;
      try {
        found = authenticator.authenticate(call);
      } catch (error) {
        return refuse(options, call, authenticator, error);
      }
      if (found instanceof Promise) {
        return found.then(
          (identity) =>
            identity === undefined ? askFrom(call, index + 1) : identified(call, index, identity),
          (error: unknown) => refuse(options, call, authenticator, error),
        );
      }
      if (found !== undefined) return identified(call, index, found);
    }
    if (!needsPrincipal(options, call)) return;
    options.logMissing(call);
    throw missingPrincipal();
  }

  /** Accepts a caller if no later credential of the call names another one. */
  function identified(call: Call, index: number, identity: Identity): void | Promise<void> {
    const authenticator = authenticators[index] as Authenticator;
    const others = after[index] as readonly Authenticator[];
    const acceptIf = (isAlike: boolean) => {
      if (isAlike) accept(options, call, authenticator, identity);
    };
    const { isOfService } = credentialTraits(identity.credential);
    // A service that sends its token is itself, whatever it passes on.
    if (others.length === 0 || isOfService) return acceptIf(true);
    const isAlike = isNamedAlike(call, identity, {
      others,
      ignored: ({ name }) => events.authentication(name, "rejected"),
      refused: (other, error) => refuse(options, call, other, error),
    });
    return isAlike instanceof Promise ? isAlike.then(acceptIf) : acceptIf(isAlike);
  }

  return (call) => askFrom(call, 0);
}

function accept(
  { crossSite, rebinding, events }: AuthenticationOptions,
  call: Call,
  { name }: Authenticator,
  { principal, credential }: Identity,
): void {
  // The chain may have responded meanwhile; a call that is over must not get a caller.
  if (call.abortReason !== undefined) throw call.abortReason;
  call.principal = principal;
  call.credential = credential;
  events.authentication(name, "identified");
  crossSite.check(call);
  rebinding?.(call);
}

/** A PUBLIC call continues without an identity; an ambiguous identity is refused all the same. */
function refuse(
  { events }: AuthenticationOptions,
  call: Call,
  { name }: Authenticator,
  error: unknown,
): void {
  const code = error instanceof ServiceError ? error.code : "INTERNAL";
  if (error instanceof TokenRefusedError) call.refusedBearer = hasBearerToken(call.headers);
  events.authentication(name, code === "UNAVAILABLE" ? "unavailable" : "rejected");
  const isNoIdentity = code === "UNAUTHORIZED" || code === "UNAVAILABLE";
  if (call.method.policy.exposure === "PUBLIC" && isNoIdentity) return;
  throw error;
}

function needsPrincipal({ isRequired }: AuthenticationOptions, call: Call): boolean {
  switch (call.method.policy.exposure) {
    case "PUBLIC":
      return false;
    case "AUTHENTICATED":
    case "AUTHORIZED":
      return isRequired;
    default:
      return true;
  }
}
