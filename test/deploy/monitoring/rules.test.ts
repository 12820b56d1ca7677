/** promtool on deploy/monitoring: each rule is valid, fires when it should, and each panel has a valid query. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { runProgram } from "../../support/programs.ts";
import { findPromtool, promtoolIsAbsent } from "../../support/promtool.ts";
import { ROOT } from "../../support/workspace.ts";
import { ALERT_CASES, type AlertCase } from "./alert-cases.ts";
import { ALERTS, type Alert, QUERIES, RULE_FILES, withoutVariables } from "./monitoring-files.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-rules-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Longer than all series. */
const END = "2h";

describe("each alert", () => {
  test("has one name, and a case", () => {
    const names = ALERTS.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    expect(Object.keys(ALERT_CASES)).toEqual(names);
  });

  test.each(ALERTS)("$alert says how bad it is, and what to do [DEPLOY-7]", (alert) => {
    expect(alert.for).toMatch(/^\d+m$/);
    expect(["critical", "warning"]).toContain(alert.labels.severity);
    const { summary, description, runbook } = alert.annotations;
    expect(summary).toMatch(/^\S.{10,}[^.]$/);
    expect(description).toMatch(/^\S.{20,}\.$/);
    const [page = "", anchor] = runbook.split("#");
    const headings = readFileSync(join(ROOT, page), "utf8").match(/^#+ .*$/gm) ?? [];
    if (anchor !== undefined) expect(headings.map(anchorOf)).toContain(anchor);
  });

  test("is in the table of docs/operations.md, with its severity", () => {
    const page = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
    const rows = [...page.matchAll(/^\| (`(?:Svc|Iam)\w+`.*?) \| (\w+) \| /gm)];
    const documented = rows.flatMap(([, names = "", severity]) =>
      [...names.matchAll(/\w+/g)].map(([name]) => `${name} ${severity}`),
    );
    const actual = ALERTS.map(({ alert, labels }) => `${alert} ${labels.severity}`);
    expect(documented.sort()).toEqual(actual.sort());
  });

  test("leaves out the time of streams, and of no other calls", () => {
    const { expr } = ALERTS.find(({ alert }) => alert === "SvcCallsSlow") as Alert;
    const [, pattern = ""] = /rpc!~"([^"]*)"/.exec(expr) ?? [];
    const names = ["audit", "auth", "groups", "permission", "revocation", "users"];
    const text = names.map((name) => proto(`proto/svc/iam/v1/${name}.proto`)).join("\n");
    const hub = ["projects/v1/project", "skills/v1/skill"];
    const all = text + hub.map((name) => proto(`examples/hub/proto/hub/${name}_service.proto`));
    const rpcs = [...all.matchAll(/^ {2}rpc (\w+)\((.*)\) returns \((.*)\)/gm)];
    const isStream = (types: string) => types.includes("stream ");
    const left = rpcs.filter(([, name]) => new RegExp(`^${pattern}$`).test(`a.B/${name}`));
    const streams = rpcs.filter(([, , from = "", to = ""]) => isStream(from) || isStream(to));
    expect(streams.length).toBeGreaterThan(5);
    expect(left.map(([, name]) => name)).toEqual(streams.map(([, name]) => name));
  });
});

describe.skipIf(promtoolIsAbsent())("promtool", () => {
  const promtool = (...args: readonly string[]) => runProgram(findPromtool(), args);

  test("finds the rules valid", () => {
    const { status, stdout, stderr } = promtool("check", "rules", "--lint-fatal", ...RULE_FILES);
    expect(stdout + stderr).not.toMatch(/FAILED|error/i);
    expect(status).toBe(0);
  });

  test("finds a rule that is not valid", () => {
    const path = join(folder, "wrong.yaml");
    const text = readFileSync(RULE_FILES[0] as string, "utf8");
    writeFileSync(path, text.replace("$labels.job }}", "$labels.job }"));
    expect(promtool("check", "rules", path).status).not.toBe(0);
  });

  test("finds the queries of all panels valid", () => {
    const path = join(folder, "panels.yaml");
    const rules = QUERIES.map(({ expr }, index) => ({
      record: `panel:${index}`,
      expr: withoutVariables(expr),
    }));
    expect(rules.length).toBeGreaterThan(30);
    writeFileSync(path, stringify({ groups: [{ name: "panels", rules }] }));
    const { status, stdout, stderr } = promtool("check", "rules", "--lint=none", path);
    expect(stdout + stderr).toContain(`${rules.length} rules found`);
    expect(status).toBe(0);
  });

  describe("each alert fires, and does not when it comes close [DEPLOY-7]", () => {
    let [results, errors] = ["", ""];

    beforeAll(() => {
      // In one run: the program takes a while to start.
      const paths = ALERTS.map((alert) => caseFile(alert, ALERT_CASES[alert.alert] as AlertCase));
      ({ stdout: results, stderr: errors } = promtool("test", "rules", ...paths));
    });

    test.each(ALERTS)("$alert", ({ alert }) => {
      expect(results, errors).toMatch(new RegExp(`/${alert}\\.yaml\\n +SUCCESS\\n`));
    });
  });

  test("a case that is wrong fails", () => {
    const [alert] = ALERTS as [Alert];
    const { fires, silent, at } = ALERT_CASES[alert.alert] as AlertCase;
    const statusOf = (wrong: AlertCase) => promtool("test", "rules", caseFile(alert, wrong)).status;
    expect(statusOf({ fires: silent, silent, at })).toBe(1);
    expect(statusOf({ fires, silent: fires, at })).toBe(1);
  });
});

/** Writes the tests of an alert for promtool. */
function caseFile({ alert, labels, annotations }: Alert, { fires, silent, at }: AlertCase): string {
  const used = Object.values(annotations)
    .join("\n")
    .matchAll(/\$labels\.(\w+)/g);
  const path = join(folder, `${alert}.yaml`);
  const tests = [
    {
      name: "fires",
      interval: "1m",
      input_series: seriesOf(fires),
      promql_expr_test: [
        // No other alert does.
        {
          expr: 'count by (alertname, severity) (ALERTS{alertstate="firing"})',
          eval_time: at,
          exp_samples: [
            { labels: `{alertname="${alert}",severity="${labels.severity}"}`, value: 1 },
          ],
        },
        // Its texts have the labels that they name.
        ...[...used].map(([, label]) => ({
          expr: `count(ALERTS{alertname="${alert}",alertstate="firing",${label}!=""})`,
          eval_time: at,
          exp_samples: [{ labels: "{}", value: 1 }],
        })),
      ],
    },
    {
      name: "is silent",
      interval: "1m",
      input_series: seriesOf(silent),
      promql_expr_test: [
        {
          expr: `last_over_time(ALERTS{alertstate="firing"}[${END}])`,
          eval_time: END,
          exp_samples: [],
        },
      ],
    },
  ];
  writeFileSync(path, stringify({ rule_files: RULE_FILES, evaluation_interval: "1m", tests }));
  return path;
}

function seriesOf(series: Readonly<Record<string, string>>) {
  return Object.entries(series).map(([name, values]) => ({ series: name, values }));
}

function proto(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  const text = heading.replace(/^#+ /, "").toLowerCase();
  return text.replaceAll(/[^\w\- ]/g, "").replaceAll(" ", "-");
}
