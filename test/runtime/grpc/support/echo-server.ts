import {
  createGrpcServer,
  type GrpcServerOptions,
} from "../../../../src/runtime/grpc/grpc-server.ts";
import type { TransportServer } from "../../../../src/runtime/port/transport-server.ts";
import { PATIENCE } from "../../../support/patience.ts";
import { type ChainParts, openChain } from "../../support/open-chain.ts";
import { boundMethods, type EchoHandlers } from "./echo-methods.ts";

export interface EchoServer {
  readonly server: TransportServer;
  readonly port: number;
  /** `127.0.0.1:port`. */
  readonly target: string;
  close(): Promise<void>;
}

export interface EchoServerOptions {
  readonly handlers?: EchoHandlers;
  readonly chain?: ChainParts;
  readonly config?: Partial<GrpcServerOptions["config"]>;
  readonly options?: Partial<GrpcServerOptions>;
}

/** The fixture's service on a free port. */
export async function startEchoServer(given: EchoServerOptions = {}): Promise<EchoServer> {
  const server = createGrpcServer({
    chain: openChain(given.chain),
    methods: boundMethods(undefined, given.handlers),
    service: "echo",
    isReady: () => true,
    config: {
      address: "127.0.0.1:0",
      timeout_ns: PATIENCE * 1_000_000,
      max_message_bytes: 1024 * 1024,
      compression: true,
      reflection: true,
      ...given.config,
    },
    ...given.options,
  });
  const { port } = await server.listen();
  return { server, port, target: `127.0.0.1:${port}`, close: () => server.close() };
}
