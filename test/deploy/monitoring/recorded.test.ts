/** What alerts and panels name is in the metrics of a running svc-iam and of a running hub. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/runtime/error/error-codes.ts";
import { AS } from "../../hub/support/caller.ts";
import { HubProcesses, ServiceProcess } from "../../hub/support/hub-process.ts";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";
import { ROOT } from "../../support/workspace.ts";
import { namesIn } from "./expression.ts";
import { ALERTS, DASHBOARD, QUERIES, withoutVariables } from "./monitoring-files.ts";
import { RecordedMetrics } from "./recorded-metrics.ts";

const IAM_TOKEN = "token-of-the-hub-at-iam-2c9a";
const folder = mkdtempSync(join(tmpdir(), "svc-access-monitoring-"));
const recorded = new RecordedMetrics();
let iam: ServiceProcess | undefined;
let hub: HubProcesses | undefined;

beforeAll(async () => {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  iam = new ServiceProcess("iam", {
    configuration: configuration("services/iam/service.yaml", "../../model"),
    environment: {
      DATA: folder,
      HTTP_ADDRESS: `127.0.0.1:${port}`,
      GRPC_ADDRESS: "127.0.0.1:0",
      METRICS_ADDRESS: "127.0.0.1:0",
      PUBLIC_URL: origin,
      INTERNAL_TOKEN: IAM_TOKEN,
    },
  });
  const { grpc, metrics } = await iam.addresses();
  hub = await HubProcesses.start({
    configuration: configuration("examples/hub/hub-iam.yaml", "node_modules/svc-access/model"),
    environment: { IAM_ADDRESS: grpc, IAM_ISSUER: `${origin}/v1/iam/oidc`, IAM_TOKEN },
  });
  for (const path of ["/v1/iam/me", "/v1/iam/ui/login", "/v1/nothing"]) {
    await fetch(origin + path, { redirect: "manual" });
  }
  const createProject = async () => {
    const headers = { ...AS.mallory, "content-type": "application/json" };
    const body = JSON.stringify({ organizationId: "acme" });
    return (await fetch(`${hub?.http}/v1/projects`, { method: "POST", headers, body })).status;
  };
  await until("svc-iam refuses a caller of the hub", async () => (await createProject()) === 403);
  recorded.add(await scrape(`http://${metrics}`));
  // Without svc-iam nobody knows who may.
  await iam.stop("SIGKILL");
  await until("the hub cannot decide", async () => (await createProject()) === 503);
  await until("the hub has collected garbage", async () => {
    // A young process may not have any yet; each scrape makes some.
    return (await scrape(hub?.metrics ?? "")).includes("\nnodejs_gc_duration_seconds_sum");
  });
  recorded.add(await scrape(hub.metrics));
});
afterAll(async () => {
  await Promise.all([iam?.stop("SIGKILL"), hub?.remove()]);
  rmSync(folder, { recursive: true, force: true });
});

test("the services have recorded metrics", () => {
  expect(recorded.size).toBeGreaterThan(30);
});

test.each([
  [
    "a metric",
    "rate(svc_access_audit_event_total[5m]) > 0",
    "no service has svc_access_audit_event_total",
  ],
  [
    "a label",
    'up{job="a"} and rpc_server_requests_total{status="OK"}',
    "rpc_server_requests_total has no label status",
  ],
  [
    "a label to group by",
    "sum by (job, method) (rpc_server_requests_total)",
    "no series has the label method",
  ],
  [
    "a value",
    'svc_access_audit_events_total{outcome="lost"}',
    'no series is svc_access_audit_events_total{outcome="lost"}',
  ],
  [
    "values",
    'svc_access_job_runs_total{job_name=~"key|keys"}',
    'no series is svc_access_job_runs_total{job_name=~"key|keys"}',
  ],
])("%s that no service has is found", (_, expr, problem) => {
  expect(recorded.problems(expr)).toEqual([problem]);
});

describe("alerts", () => {
  test.each(ALERTS)("$alert names what services have [DEPLOY-7]", ({ expr, annotations }) => {
    const text = Object.values(annotations).join("\n");
    const labels = [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label = ""]) => label);
    expect(recorded.problems(expr, labels)).toEqual([]);
  });

  test("codes are those that the platform has", () => {
    const expressions = [...ALERTS, ...QUERIES].flatMap(({ expr }) => namesIn(expr).selectors);
    const matchers = expressions.flatMap(({ matchers }) => matchers);
    const codes = matchers.filter(({ label }) => label === "code");
    expect(codes.length).toBeGreaterThan(2);
    for (const { value } of codes) {
      for (const code of value.split("|")) expect(Object.keys(ERROR_CODES)).toContain(code);
    }
  });
});

describe("the dashboard", () => {
  test.each(QUERIES)("$panel: $legendFormat [DEPLOY-7]", ({ expr, legendFormat }) => {
    const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
    expect(recorded.problems(withoutVariables(expr), labels)).toEqual([]);
  });

  test("can choose the data source, the service and the instance", () => {
    const { list } = DASHBOARD.templating as {
      list: { name: string; query: { query?: string } }[];
    };
    expect(list.map(({ name }) => name)).toEqual(["datasource", "service", "instance"]);
    for (const { query } of list.slice(1)) {
      const [, selector = ""] = /^label_values\((.*), \w+\)$/.exec(query.query ?? "") ?? [];
      expect(recorded.problems(withoutVariables(selector))).toEqual([]);
    }
    for (const { panel, expr } of QUERIES) {
      for (const { metric, matchers } of namesIn(expr).selectors) {
        const labels = matchers.map(({ label }) => label);
        expect(labels, `${metric} in ${panel}`).toEqual(
          expect.arrayContaining(["job", "instance"]),
        );
      }
    }
  });
});

/** A configuration with retention, which measures the clock; its model is the one of this repository. */
function configuration(file: string, models: string): string {
  const path = join(folder, file.replaceAll("/", "-"));
  const text = readFileSync(join(ROOT, file), "utf8");
  writeFileSync(
    path,
    `${text.replace(models, join(ROOT, "model"))}\naudit: { retention_days: 30 }\n`,
  );
  return path;
}

async function scrape(origin: string): Promise<string> {
  const response = await fetch(`${origin}/metrics`);
  expect(response.status).toBe(200);
  return response.text();
}
