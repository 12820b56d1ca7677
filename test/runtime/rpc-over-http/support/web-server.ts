import type { BoundMethod } from "../../../../src/runtime/binding/bound-method.ts";
import type { UnroutedRequest } from "../../../../src/runtime/chain/call-stages.ts";
import type { BuiltInLimits } from "../../../../src/runtime/grpc/health-and-reflection/built-in-limits.ts";
import { ServedRpcs } from "../../../../src/runtime/grpc/served-rpcs.ts";
import {
  createHttpServer,
  type HttpServerOptions,
} from "../../../../src/runtime/http/server/http-server.ts";
import type {
  ListeningAddress,
  TransportServer,
} from "../../../../src/runtime/port/transport-server.ts";
import { WebProtocols } from "../../../../src/runtime/rpc-over-http/web-protocols.ts";
import type { RequestBudget } from "../../../../src/runtime/wire/message-budget.ts";
import { boundMethods, type EchoHandlers } from "../../grpc/support/echo-methods.ts";
import { type ChainParts, openChain } from "../../support/open-chain.ts";

export interface WebServer {
  readonly server: TransportServer;
  readonly port: number;
  readonly origin: string;
  readonly unrouted: UnroutedRequest[];
  close(): Promise<void>;
}

export interface WebServerOptions {
  readonly handlers?: EchoHandlers;
  readonly methods?: readonly BoundMethod[];
  readonly chain?: ChainParts;
  readonly maxBytes?: number;
  readonly origins?: readonly string[];
  readonly limits?: HttpServerOptions["limits"];
  readonly budget?: RequestBudget;
  readonly reflection?: boolean;
  readonly isReady?: () => boolean;
  readonly builtIn?: Partial<BuiltInLimits>;
}

/** The fixture's service on a free HTTP port, with all its protocols. */
export async function startWebServer(given: WebServerOptions = {}): Promise<WebServer> {
  const unrouted: UnroutedRequest[] = [];
  const methods = given.methods ?? boundMethods(undefined, given.handlers);
  const chain = openChain(given.chain);
  const maxBytes = given.maxBytes ?? 1024 * 1024;
  const grpc = new ServedRpcs({
    chain,
    methods,
    service: "echo",
    isReady: given.isReady ?? (() => true),
    builtIn: given.builtIn ?? {},
    config: {
      max_message_bytes: maxBytes,
      compression: true,
      reflection: given.reflection ?? true,
    },
  });
  const server = createHttpServer({
    chain,
    methods,
    grpc,
    protocols: new WebProtocols({
      methods,
      find: (path) => grpc.find(path),
      domain: "echo",
      compression: true,
      limits: { maxBytes },
    }),
    onUnrouted: (request) => unrouted.push(request),
    ...(given.limits === undefined ? {} : { limits: given.limits }),
    ...(given.budget === undefined ? {} : { budget: given.budget }),
    config: {
      address: "127.0.0.1:0",
      max_body_bytes: maxBytes,
      cors: { allowed_origins: [...(given.origins ?? [])], max_age_seconds: 3600 },
    },
  });
  const { port } = (await server.listen()) as ListeningAddress;
  return {
    server,
    port,
    origin: `http://127.0.0.1:${port}`,
    unrouted,
    close: () => server.close(),
  };
}
