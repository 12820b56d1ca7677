import * as z from "zod/mini";
import { documented, path } from "../../config/config-values.ts";
import {
  address,
  duration,
  durationOf,
  file,
  origin,
  SECOND_NS,
  size,
  sizeOf,
} from "./service-config-values.ts";

const MIB = 1024 * 1024;

/**
 * Reading this many as JSON takes under 150 ms on two small cores, in any shape, even if the last
 * one is invalid.
 */
export const DEFAULT_MAX_MESSAGE_ELEMENTS = 40_000;

const tls = () =>
  z.strictObject({
    certificate_file: documented("The certificate chain, PEM.", file()),
    key_file: documented("The private key, PEM.", file()),
    client_ca_file: documented(
      "The CA certificates that clients are verified with, PEM; if set, clients must present a certificate (mTLS).",
      z.optional(file()),
    ),
  });

/** How long the connections of a port last. */
const connectionTimes = () => ({
  max_connection_age_ns: documented(
    "The age at which a connection accepts no further calls, plus or minus a tenth, so that clients spread over the replicas; absent, no limit.",
    z.optional(durationOf()),
  ),
  max_connection_age_grace_ns: documented(
    "How long the calls of an HTTP/2 connection that is too old may still take; absent, no limit.",
    z.optional(durationOf()),
  ),
});

const cors = z.strictObject({
  allowed_origins: documented(
    "The origins whose pages may call with credentials, such as https://app.example.com.",
    z._default(z.array(origin()).check(z.maxLength(256)), []),
  ),
  max_age_seconds: documented(
    "How long browsers cache the response to a preflight.",
    z._default(z.int().check(z.minimum(0), z.maximum(86_400)), 3600),
  ),
});

const http = z.strictObject({
  address: documented("Where it listens, host:port.", address()),
  timeout_ns: documented("How long a call may take.", duration(5 * SECOND_NS)),
  max_body_bytes: documented("The largest request body.", size(4 * MIB)),
  cors: documented("Which other origins may call.", z.prefault(cors, {})),
  max_connection_idle_ns: documented(
    "How long a connection without a call stays open; longer than the idle time of load balancers.",
    duration(75 * SECOND_NS),
  ),
  ...connectionTimes(),
  tls: documented("The server's certificate; absent, plain text.", z.optional(tls())),
});

const grpc = z.strictObject({
  address: documented("Where it listens, host:port.", address()),
  timeout_ns: documented("How long a call may take.", duration(5 * SECOND_NS)),
  max_message_bytes: documented("The largest message, each way.", size(4 * MIB)),
  compression: documented(
    "Whether responses from 16 KiB on are compressed for clients that accept gzip.",
    z._default(z.boolean(), true),
  ),
  max_connection_idle_ns: documented(
    "How long a connection without a call stays open; absent, no limit.",
    z.optional(durationOf()),
  ),
  ...connectionTimes(),
  reflection: documented(
    "Whether server reflection is served; absent, in development and test only.",
    z.optional(z.boolean()),
  ),
  tls: documented("The server's certificate; absent, plain text.", z.optional(tls())),
});

const metrics = z.strictObject({
  address: documented("Where it listens, host:port.", address()),
  path: documented("The path of the metrics.", z._default(path(), "/metrics")),
});

/** The schema of `server`: where a service listens. */
export const server = z.strictObject({
  http: documented("The HTTP server; absent or null, none.", z.optional(http)),
  grpc: documented("The gRPC server; absent or null, none.", z.optional(grpc)),
  metrics: documented(
    "The server of metrics, on an address of its own; absent or null, none.",
    z.optional(metrics),
  ),
  max_response_bytes: documented(
    "The largest response message over gRPC; absent, the limit of request messages.",
    z.optional(sizeOf()),
  ),
  error_info: documented(
    "Whether gRPC errors carry their code and details in a google.rpc.ErrorInfo; without it, clients get the status and message only.",
    z._default(z.boolean(), true),
  ),
  max_message_elements: documented(
    "How many elements one message may have, at any depth.",
    z._default(
      z.int().check(z.minimum(1_000), z.maximum(16_777_216)),
      DEFAULT_MAX_MESSAGE_ELEMENTS,
    ),
  ),
  stream_timeout_ns: documented("How long a streaming call may take.", duration(3600 * SECOND_NS)),
  shutdown_timeout_ns: documented(
    "How long calls may still take after the process was asked to stop.",
    duration(10 * SECOND_NS),
  ),
  shutdown_delay_ns: documented(
    "How much of shutdown_timeout_ns the service still accepts connections and calls, while /readyz is 503: until load balancers that ask it have noticed.",
    z._default(z.int().check(z.minimum(0), z.maximum(300 * SECOND_NS)), 0),
  ),
});

/** The part `server` of a service's configuration. */
export type ServerConfig = z.infer<typeof server>;
