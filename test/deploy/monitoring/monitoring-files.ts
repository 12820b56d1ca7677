/** The files of deploy/monitoring: alerts, and the panels of the dashboard. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../support/workspace.ts";

/** An alert of a rule file. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<"summary" | "description" | "runbook", string>>;
}

/** A query of a panel. */
export interface Query {
  readonly panel: string;
  readonly expr: string;
  readonly legendFormat: string;
}

/** The paths of the rule files. */
export const RULE_FILES = ["alerts.yaml", "alerts-iam.yaml"].map((name) =>
  join(ROOT, "deploy/monitoring", name),
);

/** All alerts. */
export const ALERTS: readonly Alert[] = RULE_FILES.flatMap((path) =>
  parse(readFileSync(path, "utf8")).groups.flatMap((group: { rules: Alert[] }) => group.rules),
);

/** The dashboard, as Grafana imports it. */
export const DASHBOARD = JSON.parse(
  readFileSync(join(ROOT, "deploy/monitoring/dashboard.json"), "utf8"),
);

/** The queries of all panels. */
export const QUERIES: readonly Query[] = DASHBOARD.panels.flatMap(
  ({ title, targets = [] }: { title: string; targets?: Omit<Query, "panel">[] }) =>
    targets.map((target) => ({ ...target, panel: title })),
);

/** An expression of a panel as Prometheus gets it. */
export function withoutVariables(expr: string): string {
  return expr.replaceAll("$__rate_interval", "5m").replaceAll(/\$(?:service|instance)\b/g, ".*");
}
