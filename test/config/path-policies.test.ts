import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";

const load = (of: string, by = "service: hub") =>
  loadConfig(
    `
services: { hub: { packages: [hub.v1] } }
frontends:
  web:
    host: web.example.com
    namespace: web
    services: [hub]
    client_id: web
    client_secret: { name: web }
    redirect_url: https://web.example.com/callback
    logout_path: /logout
paths:
  - { ${by}, path: /v1/hook, methods: [POST], exposure: PUBLIC, ${of} }
`,
    "svc-access.yaml",
    {},
  );

test("a path of a service has an audit event and a rate, with their defaults", () => {
  const { loaded } = load("audit: { event: hook.receive }, rate_limit: { qps: 5 }");
  expect(loaded?.config.paths[0]).toMatchObject({
    audit: { event: "hook.receive", risk_level: "LOW" },
    rate_limit: { qps: 5 },
  });
});

test.each<[string, string, string?]>([
  ["audit: {}", "event"],
  ["audit: { event: hook }", "lower-case words joined by dots"],
  ["audit: { event: hook.receive, risk_level: SEVERE }", "risk_level"],
  ["audit: { event: hook.receive, resource: hook }", "resource"],
  ["rate_limit: {}", "qps"],
  ["rate_limit: { qps: 0 }", "qps"],
  ["rate_limit: { qps: 1.5 }", "qps"],
  ["rate_limit: { qps: 5, burst: 4 }", "must be at least qps"],
  ["audit: { event: hook.receive }", "needs a service that enforces it", "frontend: web"],
  ["rate_limit: { qps: 5 }", "needs a service that enforces it", "frontend: web"],
])("%s is refused: %s", (of, message, by) => {
  const result = load(of, by);
  const found = result.loaded === undefined ? result.diagnostics : [];
  expect(found.map((one) => one.message).join("\n")).toContain(message);
});
