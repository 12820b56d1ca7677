import { connect, type Socket } from "node:net";
import type { AccessPolicy } from "../../../src/api/format.ts";
import { formatSegment, parsePathTemplate } from "../../../src/api/path-template.ts";
import type { AnyHandler, BoundMethod } from "../../../src/runtime/binding/bound-method.ts";
import type { HttpRoute } from "../../../src/runtime/binding/service-binding.ts";
import type { UnroutedRequest } from "../../../src/runtime/chain/call-stages.ts";
import type { RawHandler, RawPath } from "../../../src/runtime/http/raw/raw-handler.ts";
import type { RawMethod } from "../../../src/runtime/http/raw/raw-route.ts";
import {
  createHttpServer,
  type HttpServerOptions,
} from "../../../src/runtime/http/server/http-server.ts";
import type {
  ListeningAddress,
  TransportServer,
} from "../../../src/runtime/port/transport-server.ts";
import { openChain } from "../support/open-chain.ts";
import { ThingService } from "./fixture/thing_pb.ts";

export const PUBLIC: AccessPolicy = { exposure: "PUBLIC", publish: true };

export { openChain };

/** A route as generated code has it, from `GET /v1/things/{name}`. */
export function httpRoute(
  text: string,
  options: { rpc?: string; body?: string; responseBody?: string } = {},
): HttpRoute {
  const [method = "", path = ""] = text.split(" ");
  const { template, error } = parsePathTemplate(path);
  if (template === undefined) throw new Error(error);
  const { segments, variables, verb } = template;
  return {
    rpc: "",
    ...options,
    method,
    path,
    segments: segments.map(formatSegment),
    variables,
    ...(verb === undefined ? {} : { verb }),
  };
}

/** An RPC of the fixture with routes and a handler. */
export function thingMethod(
  name: keyof typeof ThingService.method,
  routes: readonly HttpRoute[],
  handler: AnyHandler,
  policy: AccessPolicy = PUBLIC,
): BoundMethod {
  const descriptor = ThingService.method[name];
  return {
    index: 0,
    rpc: `${ThingService.typeName}/${descriptor.name}`,
    kind: descriptor.methodKind,
    descriptor,
    policy,
    isWrite: false,
    routes,
    handler,
  };
}

/** A raw handler as it is bound. */
export function rawMethod(path: RawPath, handle: RawHandler["handle"]): RawMethod {
  const method: BoundMethod = {
    index: 0,
    rpc: path.path,
    kind: "raw",
    descriptor: undefined,
    policy: { exposure: path.exposure, publish: true },
    isWrite: false,
    routes: [],
    handler: handle,
  };
  return { method, path };
}

/** A server that listens on a free port, and what it reported. */
export interface Running {
  readonly server: TransportServer;
  readonly port: number;
  readonly origin: string;
  readonly unrouted: UnroutedRequest[];
  readonly faults: unknown[];
}

const started: TransportServer[] = [];

/** Starts a server; `stopAll` ends it. */
export async function start(
  options: Partial<Omit<HttpServerOptions, "config">> & {
    config?: Partial<HttpServerOptions["config"]>;
  },
): Promise<Running> {
  const unrouted: UnroutedRequest[] = [];
  const faults: unknown[] = [];
  const server = createHttpServer({
    chain: openChain(),
    methods: [],
    onUnrouted: (request) => unrouted.push(request),
    onFault: (error) => faults.push(error),
    ...options,
    config: {
      address: "127.0.0.1:0",
      max_body_bytes: 64 * 1024,
      cors: { allowed_origins: [], max_age_seconds: 3600 },
      ...options.config,
    },
  });
  started.push(server);
  const { port } = (await server.listen()) as ListeningAddress;
  return { server, port, origin: `http://127.0.0.1:${port}`, unrouted, faults };
}

export async function stopAll(): Promise<void> {
  for (const server of started.splice(0)) await server.close();
}

/** Sends bytes as they are, and gives all that comes back until the connection ends or is silent. */
export async function sendRaw(port: number, text: string, silenceMs = 150): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text, "latin1");
  return readAll(socket, silenceMs);
}

/** All that comes until the connection ends, or is silent after something came. */
export function readAll(socket: Socket, silenceMs = 150): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    let timer: NodeJS.Timeout | undefined;
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      clearTimeout(timer);
      timer = setTimeout(done, silenceMs);
    });
    socket.on("error", () => undefined);
    socket.on("close", done);
  });
}

/** A GET as text, with a target to the letter. */
export function get(target: string, ...headers: string[]): string {
  return [`GET ${target} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n");
}

/** The status of a response as text. */
export function statusOf(response: string): number {
  return Number(response.split(" ")[1] ?? 0);
}

/** The error of a response as text, or that of a fetch. */
export function errorOf(response: string): Record<string, unknown> {
  const body = response.slice(response.indexOf("\r\n\r\n") + 4);
  return JSON.parse(body) as Record<string, unknown>;
}
