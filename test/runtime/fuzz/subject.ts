import { type CallContext, createLogger } from "../../../src/runtime/index.ts";
import { KeyServer } from "../authn/jwt/key-server.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { startWorld, type World, type WorldOptions } from "../hostile/support/world.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { type Credentials, KEY, makeCredentials } from "./credentials.ts";
import { type Caller, type Mode, type Seen, violationOf } from "./oracle.ts";

/** One running input. */
export interface Pending {
  readonly callers: readonly Caller[];
  /** Whether any of its bytes may have changed, so that its request id may differ. */
  readonly isLoose: boolean;
  /** The text of the input if it fails. */
  readonly text: string;
  seen: Seen | undefined;
}

/** A vault in one mode whose handlers ask the oracle whether they may be called. */
export interface Subject {
  readonly mode: Mode;
  readonly world: World;
  readonly credentials: Credentials;
  /** Records an input by the request id that it sends. */
  register(requestId: string, pending: Pending): void;
  readonly violations: string[];
  /** How often each RPC was handled, with and without a caller. */
  readonly handled: Map<string, number>;
  stop(): Promise<void>;
}

/** The number of recorded inputs: a handler may be called after the client has given up. */
const MAX_PENDING = 2_000;

const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/;

export async function startSubject(
  mode: Mode,
  options: Partial<WorldOptions> = {},
): Promise<Subject> {
  const issuer = new KeyServer();
  issuer.keys = [KEY.jwk];
  await issuer.start();
  const pending = new Map<string, Pending>();
  const violations: string[] = [];
  const handled = new Map<string, number>();
  const note = (seen: Seen, requestId: string) => {
    const name = `${seen.rpc} ${seen.caller === undefined ? "nobody" : "somebody"}`;
    handled.set(name, (handled.get(name) ?? 0) + 1);
    const violation = violationOfCall(pending, seen, requestId);
    if (violation !== undefined) {
      const input = pending.get(requestId)?.text ?? "an input whose id is not known";
      violations.push(`${violation}: ${JSON.stringify(seen)} by ${input}`);
    }
  };
  // No input can break a log line.
  const write = (line: string) => {
    if (CONTROL.test(line) || line.indexOf("\n") !== line.length - 1)
      violations.push(`log: ${line}`);
    if (line.includes('"level":"error"')) violations.push(`error: ${line}`);
  };
  const world = await startWorld({
    mode,
    issuer: issuer.url,
    bindings: [bindVaultService(checkedHandlers(note))],
    logger: createLogger({ destination: { write } }),
    ...options,
  });
  return {
    mode,
    world,
    credentials: makeCredentials(issuer.url),
    register(requestId, input) {
      pending.set(requestId, input);
      const [oldest] = pending.keys();
      if (pending.size > MAX_PENDING && oldest !== undefined) pending.delete(oldest);
    },
    violations,
    handled,
    async stop() {
      await world.stop();
      await issuer.stop();
    },
  };
}

/** The violation of a call, given its own input, or all inputs whose id may differ. */
function violationOfCall(
  pending: Map<string, Pending>,
  seen: Seen,
  requestId: string,
): string | undefined {
  const own = pending.get(requestId);
  if (own !== undefined) {
    const twice = own.seen !== undefined && !own.isLoose;
    own.seen = seen;
    return twice ? "handled twice" : violationOf(seen, own.callers);
  }
  const callers: Caller[] = [];
  for (const one of pending.values()) if (one.isLoose) callers.push(...one.callers);
  return violationOf(seen, callers);
}

type Note = (seen: Seen, requestId: string) => void;

function checkedHandlers(note: Note): ReturnType<typeof vaultHandlers> {
  const checked = Object.entries(vaultHandlers()).map(([name, handler]) => [
    name,
    (request: { documentId?: string }, context: CallContext) => {
      const { rpc, principal, requestId } = context;
      const { documentId } = request;
      note({ rpc: rpc.slice(rpc.indexOf("/") + 1), caller: principal, documentId }, requestId);
      return (handler as (request: object, context: CallContext) => unknown)(request, context);
    },
  ]);
  return Object.fromEntries(checked) as ReturnType<typeof vaultHandlers>;
}
