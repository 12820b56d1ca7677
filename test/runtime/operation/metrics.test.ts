import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { createMetrics } from "../../../src/runtime/operation/metrics/metrics.ts";
import { MetricsServer } from "../../../src/runtime/operation/metrics/metrics-server.ts";
import { callOf, methodOf } from "./calls.ts";

const textOf = async (metrics = createMetrics({ process: false })) => (await metrics.text()).body;

describe("metrics", () => {
  test("count calls by RPC, transport and code, with how long they took", async () => {
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

  test("put a call into the buckets from its length on", async () => {
    const metrics = createMetrics({ process: false });
    const call = callOf();
    Object.defineProperty(call, "startedAt", { value: performance.now() - 300 });
    metrics.observer.begin?.(call);
    metrics.observer.end(call, undefined);
    const text = await textOf(metrics);
    expect(text).toMatch(/le="0\.25"\} 0\n/);
    expect(text).toMatch(/le="0\.5"\} 1\n/);
    expect(text).toMatch(/le="1"\} 1\n/);
  });

  test("count what the parts of the runtime tell", async () => {
    const metrics = createMetrics({ process: false });
    const { events } = metrics;
    events.identityHeadersDropped();
    events.authentication("jwt", "rejected");
    events.authentication("jwt", "rejected");
    events.authorization("denied");
    events.rateLimited("a.B/C");
    events.audit("failed");
    events.cache("jwt", "hit");
    events.registry("lost");
    metrics.unrouted("http", "RESOURCE_NOT_FOUND");
    metrics.databasePool("audit", () => ({ used: 3, idle: 1, waiting: 2 }));
    metrics.gauge("svc_access_backlog", "Waiting events.", () => 4);
    const text = await textOf(metrics);
    for (const line of [
      "svc_access_identity_headers_dropped_total 1",
      'svc_access_authentications_total{authenticator="jwt",outcome="rejected"} 2',
      'svc_access_authorizations_total{outcome="denied"} 1',
      'svc_access_rate_limited_total{rpc="a.B/C"} 1',
      'svc_access_audit_events_total{outcome="failed"} 1',
      'svc_access_cache_requests_total{cache="jwt",outcome="hit"} 1',
      'svc_access_registry_events_total{outcome="lost"} 1',
      'rpc_server_unrouted_requests_total{transport="http",code="RESOURCE_NOT_FOUND"} 1',
      'db_client_connections{pool="audit",state="waiting"} 2',
      "svc_access_backlog 4",
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });

  test("stay bounded, whatever codes and names there are", async () => {
    const metrics = createMetrics({ process: false });
    for (let index = 0; index < 5000; index++) {
      const call = callOf();
      metrics.observer.begin?.(call);
      metrics.observer.end(call, ServiceError.of(400, `CODE_${index}`, "x"));
      metrics.events.cache(`cache-${index}`, "hit");
    }
    const lines = (await textOf(metrics)).split("\n");
    expect(lines.filter((line) => line.startsWith("rpc_server_requests_total{")).length).toBe(33);
    expect(lines.find((line) => line.includes('code="other"'))).toMatch(/ 4968$/);
    expect(lines.filter((line) => line.includes("cache_requests_total{")).length).toBe(1001);
  });

  test("have the outcomes that an alert waits for from the start, at 0", async () => {
    const metrics = createMetrics({ process: false });
    metrics.events.authentication("jwt", "identified");
    metrics.events.cache("jwks", "hit");
    const text = await textOf(metrics);
    for (const line of [
      'svc_access_authorizations_total{outcome="unavailable"} 0',
      'svc_access_audit_events_total{outcome="failed"} 0',
      'svc_access_registry_events_total{outcome="lost"} 0',
      'svc_access_authentications_total{authenticator="jwt",outcome="identified"} 1',
      'svc_access_authentications_total{authenticator="jwt",outcome="rejected"} 0',
      'svc_access_cache_requests_total{cache="jwks",outcome="miss"} 0',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
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
  });

  test("escape what labels hold", async () => {
    const metrics = createMetrics({ process: false });
    metrics.events.rateLimited('a"\n\\b');
    expect(await textOf(metrics)).toContain('{rpc="a\\"\\n\\\\b"} 1');
  });

  test("have those of the process where they are asked for", async () => {
    const text = await textOf(createMetrics());
    expect(text).toContain("nodejs_eventloop_lag_seconds");
    expect(text).toContain("process_cpu_user_seconds_total");
  });
});

describe("the server of metrics", () => {
  const servers: MetricsServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

  const open = async (metrics = createMetrics({ process: false })) => {
    const server = new MetricsServer(metrics, { address: "127.0.0.1:0", path: "/metrics" });
    servers.push(server);
    return (await server.listen()).port;
  };
  const ask = (port: number, path: string, method = "GET") =>
    new Promise<{ status: number; type: string; body: string }>((resolve, reject) => {
      const outgoing = request({ port, path, method, host: "127.0.0.1" }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (part) => {
          body += part;
        });
        response.on("end", () => {
          const type = response.headers["content-type"] ?? "";
          resolve({ status: response.statusCode ?? 0, type, body });
        });
      });
      outgoing.on("error", reject).end();
    });

  test("answers the text, its own health, and nothing else", async () => {
    const port = await open();
    const text = await ask(port, "/metrics?x=1");
    expect(text).toMatchObject({ status: 200, type: expect.stringContaining("text/plain") });
    expect(text.body).toContain("# HELP");
    expect(await ask(port, "/healthz")).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect((await ask(port, "/metrics", "HEAD")).body).toBe("");
    for (const path of ["/", "/metrics/", "/readyz", "//metrics", "/%6detrics", "*"]) {
      expect((await ask(port, path)).status).toBe(404);
    }
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      expect((await ask(port, "/metrics", method)).status).toBe(405);
    }
  });

  test("answers 500 without detail where a metric fails", async () => {
    const metrics = createMetrics({ process: false });
    metrics.gauge("broken", "x", () => {
      throw new Error("SECRET");
    });
    const answer = await ask(await open(metrics), "/metrics");
    expect(answer).toMatchObject({ status: 500 });
    expect(answer.body).not.toContain("SECRET");
  });

  test("says so where its address is taken, and can be closed all the same", async () => {
    const port = await open();
    const second = new MetricsServer(createMetrics({ process: false }), {
      address: `127.0.0.1:${port}`,
      path: "/metrics",
    });
    await expect(second.listen()).rejects.toThrow("the address is taken");
    await second.close();
  });

  test("listens on IPv6 and goes on while the process drains", async () => {
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
