import type { FileResult } from "../../authz/validation/compare-expectation.ts";
import { printableJson } from "../../common/printable.ts";
import type { Model } from "../../model/index.ts";
import { memberKey } from "../../model/schema/model.ts";
import { count, paint, type ReportStyle } from "../report/findings.ts";

/** The results of all validation files. */
export interface TestReport {
  readonly results: readonly FileResult[];
  readonly passed: number;
  readonly failed: number;
  readonly notRun: number;
  /** The coverage of each model, over all files that test it. */
  readonly coverage: readonly Coverage[];
  /** Whether a model has less than the required coverage. */
  readonly uncovered: boolean;
}

/** Sums up the results of files; files with the same model file share its coverage. */
export function summarize(
  runs: readonly {
    readonly model: Model;
    readonly modelPath: string;
    readonly result: FileResult;
  }[],
  minCoverage = 0,
): TestReport {
  const models = new Map<string, { model: Model; exercised: Set<string> }>();
  for (const { model, modelPath, result } of runs) {
    const known = models.get(modelPath) ?? { model, exercised: new Set<string>() };
    for (const key of result.exercised) known.exercised.add(key);
    models.set(modelPath, known);
  }
  const results = runs.map(({ result }) => result);
  const sum = (count: (result: FileResult) => number) =>
    results.reduce((total, result) => total + count(result), 0);
  const coverage = [...models].map(([path, { model, exercised }]) =>
    coverageOf(path, model, exercised),
  );
  return {
    results,
    passed: sum(({ passed }) => passed),
    failed: sum(({ failures }) => failures.length),
    notRun: sum(({ notRun }) => notRun.length),
    coverage,
    uncovered: coverage.some(({ percent }) => percent < minCoverage),
  };
}

/** The results of validation files, as text or as one JSON document. */
export function formatTests(report: TestReport, format: string, style: ReportStyle): string {
  return format === "json"
    ? `${printableJson(documentOf(report))}\n`
    : `${linesOf(report, style).join("\n")}\n`;
}

/** `{"files":[{"file","passed","failed","failures":[…]}],"passed":N,"failed":N}`, and also `notRun` and `coverage`. */
function documentOf({ results, passed, failed, coverage }: TestReport) {
  const files = results.map(({ file, passed, failures }) => {
    return { file, passed, failed: failures.length, failures: failures.map(failureOf) };
  });
  const notRun = results.flatMap(({ file, notRun }) => notRun.map((item) => ({ file, ...item })));
  return { files, passed, failed, notRun, coverage };
}

function failureOf({ line, column, kind, assertion, message }: FileResult["failures"][number]) {
  return { line, column, kind, assertion, message };
}

function linesOf({ results, passed, failed, notRun, coverage }: TestReport, style: ReportStyle) {
  const lines = results.flatMap((result) => fileLines(result, style));
  lines.push(...coverage.flatMap((found) => coverageLines(found, style)));
  const skipped = notRun === 0 ? "" : `, ${notRun} not run`;
  const color = failed > 0 ? "red" : notRun > 0 ? "yellow" : "green";
  const summary = `${count(results.length, "file")}: ${passed} passed, ${failed} failed${skipped}`;
  return [...lines, paint(summary, color, style)];
}

function fileLines({ file, passed, failures, notRun }: FileResult, style: ReportStyle): string[] {
  const lines = failures.map(({ line, column, kind, assertion, message }) => {
    const what = kind === assertion ? kind : `${kind} ${assertion}`;
    return paint(`${file}:${line}:${column}: ${what}: ${message}`, "red", style);
  });
  for (const { line, column, assertion, reason } of notRun) {
    const text = `${file}:${line}:${column}: not run: ${assertion}: ${reason}`;
    lines.push(paint(text, "yellow", style));
  }
  const skipped = notRun.length === 0 ? "" : `, ${notRun.length} not run`;
  const summary = `${file}: ${passed} passed, ${failures.length} failed${skipped}`;
  return [...lines, paint(summary, undefined, style)];
}

function coverageLines(coverage: Coverage, style: ReportStyle): string[] {
  const { model, permissions, covered, percent, missing } = coverage;
  const head = `${model}: ${covered} of ${count(permissions, "permission")} exercised, ${percent} percent`;
  const first = paint(head, undefined, style);
  if (missing.length === 0) return [first];
  return [first, ...missing.map((name) => paint(`  not exercised: ${name}`, "yellow", style))];
}

/** Which permissions of a model were asked for. */
interface Coverage {
  /** The file of the model. */
  readonly model: string;
  readonly permissions: number;
  readonly covered: number;
  /** From 0 to 100, never rounded up; 100 for a model without permissions. */
  readonly percent: number;
  /** The permissions that were not asked for, as `type#permission`, in the order of the model. */
  readonly missing: readonly string[];
}

/** How much of a model's permissions is in a set of `type#permission`. */
function coverageOf(file: string, model: Model, exercised: ReadonlySet<string>): Coverage {
  const all = [...model.definitions.values()].flatMap(({ name, permissions }) =>
    [...permissions.keys()].map((permission) => memberKey(name, permission)),
  );
  const missing = all.filter((key) => !exercised.has(key));
  const covered = all.length - missing.length;
  const percent = all.length === 0 ? 100 : Math.floor((covered * 1000) / all.length) / 10;
  return { model: file, permissions: all.length, covered, percent, missing };
}
