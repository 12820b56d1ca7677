/** The client of gRPC's interoperability tests in grpc-go calls a service of this runtime. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Interceptor, ServiceError } from "../../../src/runtime/index.ts";
import {
  type Certificates,
  makeCertificates,
  opensslIsAbsent,
} from "../tls/support/certificates.ts";
import { tlsOf } from "../tls/support/secured.ts";
import { grpcGoIsAbsent, runGoClient, type Target } from "./support/grpc-go.ts";
import { type InteropServer, startInteropServer } from "./support/interop-server.ts";

const CASES = [
  "empty_unary",
  "large_unary",
  "client_streaming",
  "server_streaming",
  "ping_pong",
  "empty_stream",
  "timeout_on_sleeping_server",
  "cancel_after_begin",
  "cancel_after_first_response",
  "status_code_and_message",
  "special_status_message",
  "custom_metadata",
  "unimplemented_method",
  "unimplemented_service",
  "pick_first_unary",
  "rpc_soak",
  "channel_soak",
];

const PORTS = ["grpc", "http"] as const;

const isAbsent = grpcGoIsAbsent();

describe.skipIf(isAbsent).each(PORTS)("grpc-go's client passes on the port of %s", (port) => {
  let server: InteropServer;
  beforeAll(async () => {
    server = await startInteropServer(port);
  });
  afterAll(() => server.stop());

  test.each(CASES)("%s", async (testCase) => {
    expect(await runGoClient(testCase, server)).toBe("");
  });
});

describe.skipIf(isAbsent || opensslIsAbsent()).each(PORTS)(
  "and over TLS on the port of %s",
  (port) => {
    let certificates: Certificates;
    let server: InteropServer;
    let target: Target;
    beforeAll(async () => {
      certificates = makeCertificates();
      const ca = certificates.authority("ca");
      const own = ca.issue("server", { names: "DNS:localhost" });
      server = await startInteropServer(port, { tls: tlsOf(own) });
      target = { port: server.port, caFile: ca.certificateFile };
    });
    afterAll(async () => {
      await server?.stop();
      certificates?.remove();
    });

    test.each(CASES)("%s", async (testCase) => {
      expect(await runGoClient(testCase, target)).toBe("");
    });
  },
);

describe.skipIf(isAbsent)("a client with its own retry policy", () => {
  const retryPolicy = {
    maxAttempts: 3,
    initialBackoff: "0.001s",
    maxBackoff: "0.001s",
    backoffMultiplier: 1,
    retryableStatusCodes: ["UNAVAILABLE", "RESOURCE_EXHAUSTED"],
  };
  const policy = { methodConfig: [{ name: [{}], retryPolicy }] };

  test.each(["UNAVAILABLE", "RATE_LIMITED"] as const)(
    "waits as long as %s requests",
    async (code) => {
      const came: number[] = [];
      const refuseTwice: Interceptor = (_call, next) => {
        came.push(performance.now());
        if (came.length > 2) return next();
        throw new ServiceError(code, "not now", { retryAfterSeconds: 0.25 });
      };
      const server = await startInteropServer("grpc", {}, [refuseTwice]);
      expect(await runGoClient("empty_unary", server, policy)).toBe("");
      const [first = 0, second = 0, third = 0] = came;
      expect(came.length).toBe(3);
      // The timers of two processes may differ by a few milliseconds.
      expect(second - first).toBeGreaterThan(240);
      expect(third - second).toBeGreaterThan(240);
      await server.stop();
    },
  );
});
