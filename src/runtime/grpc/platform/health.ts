import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ServiceError } from "../../error/service-error.ts";
import { shuttingDown } from "../../server/shutting-down.ts";
import type { GrpcExchange } from "../grpc-exchange.ts";
import type { PlatformMethod } from "./platform-method.ts";

/** `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const serving = { SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;
type ServingStatus = (typeof serving)[keyof typeof serving];

/** How often watchers are told of a change at most. */
const WATCH_INTERVAL_MS = 500;

/**
 * The service `grpc.health.v1.Health`. Not by `grpc-health-check`: its watchers never end, so
 * that a server could not drain, it is told each change rather than asks, and it reads a .proto
 * file at run time. All services of a process have its readiness,
 * and so has the name `""`, which stands for the process.
 *
 * @param services full service names
 */
export function healthMethods(
  services: Iterable<string>,
  isReady: () => boolean,
): readonly PlatformMethod[] {
  const known = new Set(["", ...services]);
  const statusOf = (service: string): ServingStatus => {
    if (!known.has(service)) return serving.SERVICE_UNKNOWN;
    return isReady() ? serving.SERVING : serving.NOT_SERVING;
  };
  return [
    {
      path: "/grpc.health.v1.Health/Check",
      async serve(exchange) {
        const status = statusOf(await exchange.reader().single(decodeRequest));
        if (status === serving.SERVICE_UNKNOWN) {
          throw new ServiceError("RESOURCE_NOT_FOUND", "the service is not served here");
        }
        exchange.reply(encodeResponse(status));
      },
    },
    {
      path: "/grpc.health.v1.Health/Watch",
      async serve(exchange, signal) {
        const service = await exchange.reader().single(decodeRequest);
        await watch(exchange, signal, () => statusOf(service));
      },
    },
  ];
}

/** Tells the status now, then each change, until the client has gone or the server drains. */
async function watch(
  exchange: GrpcExchange,
  signal: AbortSignal,
  status: () => ServingStatus,
): Promise<void> {
  let told: ServingStatus | undefined;
  while (!signal.aborted) {
    const now = status();
    if (now !== told) await exchange.send(encodeResponse(now), () => signal);
    told = now;
    await pause(signal);
  }
  if (told !== serving.NOT_SERVING)
    await exchange.send(encodeResponse(serving.NOT_SERVING), () => signal);
  throw shuttingDown();
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, WATCH_INTERVAL_MS);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

/** `HealthCheckRequest.service`. */
function decodeRequest(data: Uint8Array): string {
  let service = "";
  try {
    const reader = new BinaryReader(data);
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === 1 && type === WireType.LengthDelimited) service = reader.string();
      else reader.skip(type, field);
    }
  } catch (error) {
    throw new ServiceError("INVALID_ARGUMENT", "the request is no valid HealthCheckRequest", {
      cause: error,
    });
  }
  return service;
}

/** `HealthCheckResponse.status`. */
function encodeResponse(status: ServingStatus): Uint8Array {
  return new BinaryWriter().tag(1, WireType.Varint).int32(status).finish();
}
