export type { UnroutedObserver, UnroutedRequest } from "../operation/unrouted-request.ts";
export {
  createHttpServer,
  type HttpConfig,
  type HttpServerOptions,
} from "./http-server.ts";
export type { Probe, ProbeAnswer } from "./probe.ts";
export type { DeclaredPath, RawHandler, RawRequest, RawResponse } from "./raw-handler.ts";
export type { RawMethod } from "./raw-route.ts";
export type { TransportLimits } from "./transport-limits.ts";
