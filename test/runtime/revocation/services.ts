import {
  IAMRevocationService,
  type WatchRevocationsRequest,
} from "../../../src/gen/proto/svc/iam/v1/revocation_pb.ts";
import {
  type CallContext,
  createLogger,
  httpRoutes,
  RevocationFeed,
  type RevocationFeedOptions,
  type ServiceBinding,
} from "../../../src/runtime/index.ts";
import { AUDIENCE } from "../hostile/support/world.ts";
import {
  INTERNAL_TOKEN,
  type RunningVault,
  startVault,
  type VaultOptions,
} from "../support/vault-server.ts";

/** A server of revocations, as IAM is one. */
export interface FeedServer {
  readonly feed: RevocationFeed;
  readonly vault: RunningVault;
  /** The positions of the calls that it got. */
  readonly positions: string[];
  /** Ends the calls, as a broken connection would. */
  breakOff(): void;
  stop(): Promise<void>;
}

/** As the generated code of `services/iam` does; this package has the clients of the API only. */
function bindRevocations(
  watch: (position: string, signal: AbortSignal) => ReturnType<RevocationFeed["watch"]>,
): ServiceBinding {
  const { typeName } = IAMRevocationService;
  return {
    formatVersion: 1,
    service: IAMRevocationService,
    policies: { [`${typeName}/WatchRevocations`]: { exposure: "INTERNAL", publish: false } },
    routes: httpRoutes(typeName, []),
    handlers: {
      watchRevocations: ({ position }: WatchRevocationsRequest, { signal }: CallContext) =>
        watch(position, signal),
    },
  };
}

/** @param grpc the `server.grpc` of its configuration */
export async function startFeed(
  grpc: object,
  options: RevocationFeedOptions = {},
): Promise<FeedServer> {
  const feed = new RevocationFeed(options);
  const positions: string[] = [];
  let breaking = new AbortController();
  const binding = bindRevocations((position, signal) => {
    positions.push(position);
    return feed.watch(position, AbortSignal.any([signal, breaking.signal]));
  });
  const vault = await startVault({
    bindings: [binding],
    security: {
      authn: {
        internal_call: { enabled: true, token: [{ service: "vault", token: INTERNAL_TOKEN }] },
      },
    },
    config: {
      server: { http: { address: "127.0.0.1:0" }, grpc, shutdown_timeout_ns: 1_000_000_000 },
    },
  });
  return {
    feed,
    vault,
    positions,
    breakOff() {
      breaking.abort();
      breaking = new AbortController();
    },
    async stop() {
      feed.close();
      await vault.stop();
    },
  };
}

/** A service that verifies tokens, and follows revocations. It logs all that it does. */
export async function startFollower(
  issuer: string,
  revocation: object,
  authn: object = {},
  options: VaultOptions = {},
): Promise<RunningVault> {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const address = "127.0.0.1:0";
  const vault = await startVault({
    logger: createLogger({ level: "debug", destination }),
    security: {
      authn: {
        mode: "idp_jwt",
        oidc: { issuer, audience: [AUDIENCE] },
        revocation: { token: INTERNAL_TOKEN, ...revocation },
        ...authn,
      },
    },
    config: { server: { http: { address }, grpc: { address }, metrics: { address } } },
    ...options,
  });
  return { ...vault, lines };
}

/** What becomes of a call with a token: `200 alice`, or the status and the message. */
export async function callWith(
  vault: RunningVault,
  token: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`http://127.0.0.1:${vault.http}/v1/profile`, {
    headers: { ...bearer, ...headers },
  });
  const body = (await response.json()) as { subjectId?: string; message?: string };
  return `${response.status} ${body.subjectId ?? body.message}`;
}

/** The answer of `/readyz`. */
export async function readyz(vault: RunningVault): Promise<object> {
  const response = await fetch(`http://127.0.0.1:${vault.http}/readyz`);
  return { code: response.status, ...((await response.json()) as object) };
}

/** The lines of its metrics that begin with a name. */
export async function metricLines(vault: RunningVault, name: string): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${vault.metrics}/metrics`);
  return (await response.text()).split("\n").filter((line) => line.startsWith(name));
}
