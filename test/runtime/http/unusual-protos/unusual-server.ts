import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "@bufbuild/protobuf";
import { parseServiceConfig } from "../../../../src/runtime/configuration/load-service-config.ts";
import {
  type CallContext,
  createLogger,
  createServer,
  type ServiceBinding,
} from "../../../../src/runtime/index.ts";

/** A call as its handler saw it. */
export interface Seen {
  readonly rpc: string;
  readonly request: Message;
  readonly context: CallContext;
}

/** Makes the response of a call; absent, the request is the response. */
export type Answer = (request: any, context: CallContext) => unknown;

/** Services that note what they are sent, over both transports. */
export interface UnusualServer {
  readonly http: number;
  readonly grpc: number;
  readonly seen: Seen[];
  readonly lines: string[];
  /** What the next calls are answered. */
  answer: Answer;
  stop(): Promise<void>;
}

/**
 * Serves services on free ports, each RPC by `answer`.
 *
 * @param limits keys of `server.http`
 * @param ofBoth keys of `server`
 */
export async function startUnusual(
  bind: readonly ((handlers: any) => ServiceBinding)[],
  limits: object = {},
  ofBoth: object = {},
): Promise<UnusualServer> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-unusual-"));
  const lines: string[] = [];
  const seen: Seen[] = [];
  const handler = (_: object, name: string) =>
    name.startsWith("$")
      ? undefined
      : (request: Message, context: CallContext) => {
          seen.push({ rpc: context.rpc, request, context });
          return unusual.answer(request, context);
        };
  const server = await createServer({
    configuration: parseServiceConfig(
      JSON.stringify(configuration(limits, ofBoth)),
      join(folder, "unusual.yaml"),
      {
        variables: {},
        checks: [],
      },
    ),
    bindings: bind.map((one) => one(new Proxy({}, { get: handler }))),
    logger: createLogger({ destination: { write: (line: string) => void lines.push(line) } }),
  });
  const addresses = await server.start();
  const unusual: UnusualServer = {
    http: addresses["http"]?.port ?? 0,
    grpc: addresses["grpc"]?.port ?? 0,
    seen,
    lines,
    answer: async (request) => request,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return unusual;
}

function configuration(limits: object, ofBoth: object) {
  return {
    environment: "development",
    service: "unusual",
    server: {
      http: { address: "127.0.0.1:0", ...limits },
      grpc: { address: "127.0.0.1:0" },
      ...ofBoth,
    },
    security: {
      authn: { mode: "gateway_trusted" },
      authz: { enabled: false },
    },
    database: { driver: "sqlite", file: "unusual.db" },
  };
}
