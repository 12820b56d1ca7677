import { identificationStages } from "../authn/identification-stages.ts";
import { createAuthorization } from "../authorization/authorization-stage.ts";
import type { CallObserver } from "../chain/call-stages.ts";
import type { ServerChainParts } from "../chain/server-chain.ts";
import type { Logger } from "../operation/logger.ts";
import type { RuntimeEvents } from "../operation/runtime-events.ts";
import { createTracing } from "../operation/tracing/tracing.ts";
import { createRateLimiter } from "../rate-limit/rate-limiter.ts";
import type { OpenParts } from "./open-parts.ts";
import type { ServerOptions } from "./server-options.ts";

/** What the chain has of the server around it. */
export interface ChainContext extends OpenParts {
  readonly logger: Logger;
  readonly events: RuntimeEvents;
  /** Takes what is ended with the server. */
  readonly onClose: (end: () => void) => void;
  /** Whoever hears of each call, behind tracing. */
  readonly observers: readonly CallObserver[];
}

/** The stages of the chain of a server; how long calls may take is for each transport to say. */
export function chainParts(
  options: ServerOptions,
  { engine, audit, logger, events, onClose, observers }: ChainContext,
): Omit<ServerChainParts, "timeoutMs"> {
  const { config } = options.configuration;
  const { authn, authz } = config.security;
  const tracing = createTracing(config.server.http?.tls === undefined ? "http" : "https");
  return {
    ...identificationStages(config, {
      events,
      logger,
      revocations: options.revocations,
      further: options.authenticators,
      onClose,
    }),
    before: options.before ?? [],
    rateLimit: createRateLimiter({ events }),
    authorization: createAuthorization({
      engine,
      enabled: authz.enabled,
      devAllowAll: authz.dev_allow_all,
      authnDisabled: !authn.enabled || authn.mode === "disabled",
      events,
    }),
    audit: audit.trail,
    admission: options.admission ?? [],
    after: [...(tracing === undefined ? [] : [tracing.interceptor]), ...(options.after ?? [])],
    observers: [...(tracing === undefined ? [] : [tracing.observer]), ...observers],
  };
}
