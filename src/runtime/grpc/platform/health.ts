import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ServiceError } from "../../error/service-error.ts";
import { HealthWatchers, type Told } from "./health-watchers.ts";
import { Places } from "./places.ts";
import type { PlatformLimits } from "./platform-limits.ts";
import type { PlatformMethod } from "./platform-method.ts";

/** The answers, by the names of `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const SERVING = encodeResponse(1);
const NOT_SERVING = encodeResponse(2);
const SERVICE_UNKNOWN = encodeResponse(3);

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
  limits: PlatformLimits,
): readonly PlatformMethod[] {
  const known = new Set(["", ...services]);
  const statusOf = (service: string): Told => {
    if (!known.has(service)) return SERVICE_UNKNOWN;
    return isReady() ? SERVING : NOT_SERVING;
  };
  const watchers = new HealthWatchers(isReady);
  return [
    {
      path: "/grpc.health.v1.Health/Check",
      async serve(exchange, call) {
        const status = statusOf(decodeRequest(await exchange.reader().single()));
        call.heard();
        if (status === SERVICE_UNKNOWN) {
          throw new ServiceError("RESOURCE_NOT_FOUND", "the service is not served here");
        }
        await exchange.reply(status);
      },
    },
    {
      path: "/grpc.health.v1.Health/Watch",
      places: new Places({
        what: "watchers of health",
        most: limits.watchers,
        mostOfConnection: limits.watchersOfConnection,
        milliseconds: limits.streamMs,
      }),
      async serve(exchange, call) {
        const service = decodeRequest(await exchange.reader().single());
        call.heard();
        // The name of one that is not known is the client's, of any length: it is not kept.
        const name = known.has(service) ? service : undefined;
        await watchers.watch(exchange, call.signal, () =>
          name === undefined ? SERVICE_UNKNOWN : statusOf(name),
        );
      },
    },
  ];
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
function encodeResponse(status: number): Uint8Array {
  return new BinaryWriter().tag(1, WireType.Varint).int32(status).finish();
}
