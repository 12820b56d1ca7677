import { ServerChain, type ServerChainParts } from "../../../src/runtime/chain/server-chain.ts";

/** A chain whose stages allow every call. */
export function openChain(parts: Partial<ServerChainParts> = {}): ServerChain {
  const nothing = () => undefined;
  return new ServerChain({
    before: [],
    timeoutMs: { unary: 5000, stream: 10_000 },
    contextInjection: nothing,
    requestInfo: nothing,
    metadata: nothing,
    authentication: nothing,
    rateLimit: nothing,
    authorization: nothing,
    audit: { begin: nothing, complete: nothing, outlast: nothing },
    admission: [],
    after: [],
    observers: [],
    ...parts,
  });
}
