import type { Model } from "../../model/index.ts";
import { type Coverage, coverageOf } from "../../model/validation/coverage.ts";
import type { FileResult } from "../../model/validation/file-result.ts";

/** What came of all validation files. */
export interface TestReport {
  readonly results: readonly FileResult[];
  readonly passed: number;
  readonly failed: number;
  readonly notRun: number;
  /** Of each model, over all files that test it. */
  readonly coverage: readonly Coverage[];
  /** Whether a model has less coverage than was asked for. */
  readonly uncovered: boolean;
}

/** Adds up the results of files; those that name the same file as their model share its coverage. */
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
