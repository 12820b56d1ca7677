import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { createMetrics } from "../../../../src/runtime/observers/metrics/metrics.ts";
import { MetricsServer } from "../../../../src/runtime/observers/metrics/metrics-server.ts";
import { callOf, methodOf } from "../../support/sample-call.ts";
import { startVault } from "../../support/vault-server.ts";

const textOf = async (metrics = createMetrics({ process: false })) => (await metrics.text()).body;

describe("metrics", () => {
  test("count calls by RPC, transport and code, with their durations", async () => {
    const metrics = createMetrics({ process: false });
    const { observer } = metrics;
    const call = callOf();
    observer.begin?.(call);
    expect(await textOf(metrics)).toContain(
      'rpc_server_active_requests{rpc="hub.v1.HubService/Get",transport="http"} 1',
    );
    observer.end(call, undefined);
    const other = callOf({ transport: "grpc", method: methodOf({ index: 7, rpc: "a.B/C" }) });
    observer.begin?.(other);
    observer.end(other, new ServiceError("FORBIDDEN"));
    const text = await textOf(metrics);
    for (const line of [
      'rpc_server_active_requests{rpc="hub.v1.HubService/Get",transport="http"} 0',
      'rpc_server_requests_total{rpc="hub.v1.HubService/Get",transport="http",code="OK"} 1',
      'rpc_server_requests_total{rpc="a.B/C",transport="grpc",code="FORBIDDEN"} 1',
      'rpc_server_duration_seconds_bucket{rpc="a.B/C",transport="grpc",code="FORBIDDEN",le="10"} 1',
      'rpc_server_duration_seconds_bucket{rpc="a.B/C",transport="grpc",code="FORBIDDEN",le="+Inf"} 1',
      'rpc_server_duration_seconds_count{rpc="a.B/C",transport="grpc",code="FORBIDDEN"} 1',
      "# TYPE rpc_server_duration_seconds histogram",
    ]) {
      expect(text).toContain(line);
    }
  });

  test("count a call in all buckets from its duration on, and sum up the durations", async () => {
    const metrics = createMetrics({ process: false });
    for (const durationMs of [0, 300, 20_000]) {
      const call = callOf();
      call.endedAt = call.startedAt + durationMs;
      metrics.observer.begin?.(call);
      metrics.observer.end(call, undefined);
    }
    const samples = (await textOf(metrics))
      .split("\n")
      .filter((line) => line.startsWith("rpc_server_duration_seconds"))
      .map((line) =>
        line.replace(/^rpc_server_duration_seconds_(\w+)\{.*?(?:,le="(.*)")?\} /, "$1 $2 "),
      );
    const below = ["0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25"];
    expect(samples.slice(0, -2)).toEqual([
      ...below.map((bound) => `bucket ${bound} 1`),
      ...["0.5", "1", "2.5", "5", "10"].map((bound) => `bucket ${bound} 2`),
      "bucket +Inf 3",
    ]);
    expect(Number(samples.at(-2)?.replace("sum  ", ""))).toBeCloseTo(20.3, 6);
    expect(samples.at(-1)).toBe("count  3");
  });

  test("count an RPC over HTTP and over gRPC separately", async () => {
    const metrics = createMetrics({ process: false });
    for (const transport of ["http", "grpc", "grpc"] as const) {
      const call = callOf({ transport, method: methodOf({ index: 3 }) });
      metrics.observer.begin?.(call);
      metrics.observer.end(call, undefined);
    }
    const text = await textOf(metrics);
    const labels = (transport: string) =>
      `{rpc="hub.v1.HubService/Get",transport="${transport}",code="OK"}`;
    expect(text).toContain(`rpc_server_requests_total${labels("http")} 1\n`);
    expect(text).toContain(`rpc_server_requests_total${labels("grpc")} 2\n`);
  });

  test("count two RPCs over one transport separately", async () => {
    const metrics = createMetrics({ process: false });
    for (const index of [1, 2, 2]) {
      const call = callOf({ method: methodOf({ index, rpc: `a.B/${index}` }) });
      metrics.observer.begin?.(call);
      metrics.observer.end(call, undefined);
    }
    const text = await textOf(metrics);
    for (const index of [1, 2]) {
      const labels = `{rpc="a.B/${index}",transport="http",code="OK"}`;
      expect(text).toContain(`rpc_server_requests_total${labels} ${index}\n`);
    }
  });

  test("count the events of the runtime", async () => {
    const metrics = createMetrics({ process: false });
    const { events } = metrics;
    events.identityHeadersDropped();
    events.authentication("jwt", "rejected");
    events.authentication("jwt", "rejected");
    events.authorization("denied");
    events.rateLimited("a.B/C");
    events.audit("refused");
    events.audit("dropped");
    events.cache("jwt", "hit");
    events.registry("lost");
    events.responseCutOff();
    events.expect("job", "clean");
    events.job("clean", "failed");
    metrics.unrouted("http", "RESOURCE_NOT_FOUND");
    metrics.databasePool("audit", () => ({ used: 3, idle: 1, waiting: 2 }));
    const text = await textOf(metrics);
    for (const line of [
      "svc_access_identity_headers_dropped_total 1",
      'svc_access_authentications_total{authenticator="jwt",outcome="rejected"} 2',
      'svc_access_authorizations_total{outcome="denied"} 1',
      'svc_access_rate_limited_total{rpc="a.B/C"} 1',
      'svc_access_audit_events_total{outcome="refused"} 1',
      'svc_access_audit_events_total{outcome="dropped"} 1',
      'svc_access_cache_requests_total{cache="jwt",outcome="hit"} 1',
      'svc_access_registry_events_total{outcome="lost"} 1',
      "svc_access_responses_cut_off_total 1",
      'svc_access_job_runs_total{job_name="clean",outcome="succeeded"} 0',
      'svc_access_job_runs_total{job_name="clean",outcome="failed"} 1',
      'rpc_server_unrouted_requests_total{transport="http",code="RESOURCE_NOT_FOUND"} 1',
      'db_client_connections{pool="audit",state="waiting"} 2',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    // Each series occurs once.
    const series = [...text.matchAll(/^(\S+) \S+$/gm)].map(([, name]) => name);
    expect(new Set(series).size).toBe(series.length);
  });

  test("stay bounded for any codes and names", async () => {
    const metrics = createMetrics({ process: false });
    for (let index = 0; index < 5000; index++) {
      const call = callOf();
      metrics.observer.begin?.(call);
      metrics.observer.end(call, ServiceError.of(400, `CODE_${index}`, "x"));
      metrics.events.cache(`cache-${index}`, "hit");
      metrics.events.rateLimited(`rpc-${index}`);
    }
    const lines = (await textOf(metrics)).split("\n");
    expect(lines.filter((line) => line.startsWith("rpc_server_requests_total{")).length).toBe(33);
    expect(lines.find((line) => line.includes('code="other"'))).toMatch(/ 4968$/);
    expect(lines.filter((line) => line.includes("cache_requests_total{")).length).toBe(1001);
    expect(lines).toContain('svc_access_rate_limited_total{rpc="rpc-999"} 1');
    expect(lines).toContain('svc_access_rate_limited_total{rpc="other"} 4000');
    expect(lines).toContain('svc_access_cache_requests_total{cache="other",outcome="other"} 4500');
  });

  test("have the outcomes that alerts need at 0 from the start", async () => {
    const metrics = createMetrics({ process: false });
    const atStart = (await textOf(metrics)).split("\n").filter((line) => !line.startsWith("#"));
    const of = (name: string, ...outcomes: string[]) =>
      outcomes.map((outcome) => `svc_access_${name}_total{outcome="${outcome}"} 0`);
    expect(atStart.filter((line) => line.startsWith("svc_access_")).sort()).toEqual(
      [
        ...of("authorizations", "allowed", "denied", "unavailable", "invalid"),
        ...of("audit_events", "stored", "delayed", "refused", "dropped", "coalesced"),
        ...of("registry_events", "published", "lost", "failed"),
        ...of("secret_files", "changed", "failed"),
        "svc_access_identity_headers_dropped_total 0",
        "svc_access_responses_cut_off_total 0",
      ].sort(),
    );
    metrics.events.expect("rateLimited", "a.B/C");
    metrics.events.expect("authentication", "gateway");
    metrics.events.authentication("jwt", "rejected");
    metrics.events.expect("authentication", "jwt");
    metrics.events.cache("jwks", "miss");
    const text = await textOf(metrics);
    for (const line of [
      'svc_access_rate_limited_total{rpc="a.B/C"} 0',
      'svc_access_authentications_total{authenticator="gateway",outcome="rejected"} 0',
      'svc_access_authentications_total{authenticator="jwt",outcome="identified"} 0',
      'svc_access_authentications_total{authenticator="jwt",outcome="rejected"} 1',
      'svc_access_authentications_total{authenticator="jwt",outcome="unavailable"} 0',
      'svc_access_cache_requests_total{cache="jwks",outcome="hit"} 0',
      'svc_access_cache_requests_total{cache="jwks",outcome="miss"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });

  test("of a server have its authenticators, caches and rate limits at 0 from the start", async () => {
    const oidc = { issuer: "http://127.0.0.1:1", audience: ["vault"] };
    const vault = await startVault({ security: { authn: { mode: "idp_jwt", oidc } } });
    onTestFinished(() => vault.stop());
    const text = await (await fetch(`http://127.0.0.1:${vault.metrics}/metrics`)).text();
    for (const name of ["internal", "jwt"]) {
      for (const outcome of ["identified", "rejected", "unavailable"]) {
        const labels = `authenticator="${name}",outcome="${outcome}"`;
        expect(text).toContain(`svc_access_authentications_total{${labels}} 0\n`);
      }
    }
    for (const cache of ["jwt", "jwks"]) {
      for (const outcome of ["hit", "miss"]) {
        const labels = `cache="${cache}",outcome="${outcome}"`;
        expect(text).toContain(`svc_access_cache_requests_total{${labels}} 0\n`);
      }
    }
    expect(text).toMatch(/^svc_access_rate_limited_total\{rpc="acme\.vault\.v1\.\S+"\} 0$/m);
  });

  test("follow the conventions of Prometheus", async () => {
    const metrics = createMetrics();
    const call = callOf();
    metrics.observer.begin?.(call);
    metrics.observer.end(call, undefined);
    const text = await textOf(metrics);
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [
      name,
      type,
    ]);
    expect(types.length).toBeGreaterThan(20);
    for (const [name, type] of types) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(`${name} ${type}`).toMatch(
        type === "counter" ? /_total counter$/ : /(?<!_total) \w+$/,
      );
      expect(text).toContain(`# HELP ${name} `);
      expect(name).not.toMatch(/_(ms|milliseconds|kb|mb|count|sum|bucket)$/);
    }
    expect(new Set(types.map(([name]) => name)).size).toBe(types.length);
    const kinds = Object.fromEntries(types);
    expect(kinds).toMatchObject({
      rpc_server_requests_total: "counter",
      rpc_server_duration_seconds: "histogram",
      rpc_server_active_requests: "gauge",
      svc_access_audit_events_total: "counter",
    });
  });

  test("escape the values of labels", async () => {
    const metrics = createMetrics({ process: false });
    metrics.events.rateLimited('a"\n\\b');
    expect(await textOf(metrics)).toContain('{rpc="a\\"\\n\\\\b"} 1');
  });

  test("include those of the process if configured", async () => {
    const text = await textOf(createMetrics());
    expect(text).toContain("nodejs_eventloop_lag_seconds");
    expect(text).toContain("process_cpu_user_seconds_total");
  });
});

describe("the server of metrics [OBS-2]", () => {
  const servers: MetricsServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

  const open = async (metrics = createMetrics({ process: false })) => {
    const server = new MetricsServer(metrics, { address: "127.0.0.1:0", path: "/metrics" });
    servers.push(server);
    return (await server.listen()).port;
  };
  const ask = (port: number, path: string, method = "GET") =>
    new Promise<{
      status: number;
      type: string;
      body: string;
      headers: IncomingHttpHeaders;
    }>((resolve, reject) => {
      const outgoing = request({ port, path, method, host: "127.0.0.1" }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (part) => {
          body += part;
        });
        response.on("end", () => {
          const type = response.headers["content-type"] ?? "";
          const { headers } = response;
          resolve({ status: response.statusCode ?? 0, type, body, headers });
        });
      });
      outgoing.on("error", reject).end();
    });

  test("serves the metrics and its own health, and nothing else", async () => {
    const port = await open();
    const text = await ask(port, "/metrics?x=1");
    expect(text).toMatchObject({ status: 200, type: expect.stringContaining("text/plain") });
    expect(text.body).toContain("# HELP");
    expect(await ask(port, "/healthz")).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect(await ask(port, "/metrics", "HEAD")).toMatchObject({ status: 200, body: "" });
    expect(text.headers).toMatchObject({
      "content-length": String(Buffer.byteLength(text.body)),
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    for (const path of ["/", "/metrics/", "/readyz", "//metrics", "/%6detrics", "*"]) {
      const answer = await ask(port, path);
      expect(answer).toMatchObject({ status: 404, type: "application/json" });
      expect(JSON.parse(answer.body)).toEqual({
        status: 404,
        code: "RESOURCE_NOT_FOUND",
        message: "resource not found",
      });
    }
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const answer = await ask(port, "/metrics", method);
      expect(answer).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
      expect(JSON.parse(answer.body)).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
    }
  });

  test("responds 500 without details if a metric fails", async () => {
    const metrics = createMetrics({ process: false });
    metrics.databasePool("broken", () => {
      throw new Error("SECRET");
    });
    const answer = await ask(await open(metrics), "/metrics");
    expect(answer).toMatchObject({ status: 500 });
    expect(JSON.parse(answer.body)).toEqual({
      status: 500,
      code: "INTERNAL",
      message: "internal error",
    });
  });

  test("limits requests to the size of a scraper's", async () => {
    const port = await open();
    const long = await new Promise((resolve) => {
      const headers = { "x-long": "x".repeat(9000) };
      const outgoing = request({ port, host: "127.0.0.1", path: "/metrics", headers });
      outgoing.on("response", (response) => resolve(response.resume().statusCode)).end();
    });
    expect(long).toBe(431);
  });

  test("silent connections delay no probe: those with the oldest requests are closed", async () => {
    const port = await open();
    const closed: number[] = [];
    const sockets: Socket[] = [];
    const connectAs = async (number: number) => {
      const socket = connect(port, "127.0.0.1").resume();
      socket.on("error", () => undefined).on("close", () => closed.push(number));
      sockets.push(socket);
      await once(socket, "connect");
      return socket;
    };
    const scraper = await connectAs(-1);
    for (let number = 0; number < 200; number++) await connectAs(number);
    scraper.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    await once(scraper, "data");
    for (let number = 200; number < 400; number++) await connectAs(number);
    // The scraper, the last 255 silent ones and this one: the first of the 401 are closed.
    expect(await ask(port, "/healthz")).toMatchObject({ status: 200 });
    expect(await ask(port, "/metrics")).toMatchObject({ status: 200 });
    await expect
      .poll(() => closed.length, { message: "the connections with the oldest requests are closed" })
      .toBeGreaterThan(144);
    const inOrder = closed.toSorted((left, right) => left - right);
    expect(inOrder).toEqual(inOrder.map((_, index) => index));
    expect(scraper.destroyed).toBe(false);
    for (const socket of sockets) socket.destroy();
  });

  test("an incomplete request is closed within seconds", async () => {
    const port = await open();
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /healthz HTTP/1.1\r\nx-slow: ");
    const [answer] = await once(socket, "data");
    expect(String(answer)).toContain("408");
    socket.destroy();
  }, 8_000);

  test("is closed with its kept connections, and can be closed again", async () => {
    const server = new MetricsServer(createMetrics({ process: false }), {
      address: "127.0.0.1:0",
      path: "/metrics",
    });
    const { port } = await server.listen();
    const socket = connect(port, "127.0.0.1").resume();
    const closed = once(socket, "close");
    socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    await once(socket, "data");
    await server.close();
    await closed;
    await server.close();
    await expect(ask(port, "/healthz")).rejects.toThrow("ECONNREFUSED");
  });

  test("reports the error of the system for an unavailable address", async () => {
    const server = new MetricsServer(createMetrics({ process: false }), {
      address: "192.0.2.1:9",
      path: "/metrics",
    });
    await expect(server.listen()).rejects.toMatchObject({
      problems: [
        expect.stringMatching(
          /^metrics cannot listen on 192\.0\.2\.1:9 \(server\.metrics\.address\): /,
        ),
      ],
      cause: { code: "EADDRNOTAVAIL" },
    });
  });

  test("reports an address in use, and can still be closed", async () => {
    const port = await open();
    const second = new MetricsServer(createMetrics({ process: false }), {
      address: `127.0.0.1:${port}`,
      path: "/metrics",
    });
    await expect(second.listen()).rejects.toThrow("the address is in use");
    await second.close();
  });

  test("listens on IPv6 and keeps serving while the process drains", async () => {
    const server = new MetricsServer(createMetrics({ process: false }), {
      address: "[::1]:0",
      path: "/metrics",
    });
    servers.push(server);
    const { host, port } = await server.listen();
    expect(host).toBe("::1");
    await server.drain();
    const { status } = await fetch(`http://[::1]:${port}/metrics`);
    expect(status).toBe(200);
  });
});
