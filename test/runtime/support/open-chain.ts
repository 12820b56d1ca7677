import type { Interceptor } from "../../../src/runtime/chain/interceptor.ts";
import { ServerChain, type ServerChainParts } from "../../../src/runtime/chain/server-chain.ts";
import { PATIENCE } from "../../support/patience.ts";

/** The parts of a chain; interceptors after are for all RPCs. */
export interface ChainParts extends Partial<Omit<ServerChainParts, "after">> {
  readonly after?: readonly Interceptor[];
}

/** A chain whose stages allow every call. */
export function openChain({ after = [], ...parts }: ChainParts = {}): ServerChain {
  const nothing = () => undefined;
  return new ServerChain({
    before: [],
    // A busy machine is not a timeout; tests of timeouts have their own.
    timeoutMs: { unary: PATIENCE, stream: PATIENCE },
    contextInjection: nothing,
    requestInfo: nothing,
    metadata: nothing,
    authentication: nothing,
    rateLimit: nothing,
    authorization: nothing,
    audit: { begin: nothing, complete: nothing, outlast: nothing },
    admission: [],
    after: () => after,
    observers: [],
    ...parts,
  });
}
