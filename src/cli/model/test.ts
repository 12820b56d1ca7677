import { Command, InvalidArgumentError, Option } from "commander";
import { note } from "../../common/note.ts";
import { showsColors } from "../report/findings.ts";

interface TestFlags {
  readonly format: string;
  readonly minCoverage?: number;
}

/** `svc-access model test FILE…`. */
export function testCommand(): Command {
  return new Command("test")
    .description("Runs validation files: the assertions and expected relations of a model.")
    .argument("<files...>", "validation files in the format of `zed validate`")
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["text", "json"])
        .default("text"),
    )
    .option("--min-coverage <percent>", "fail if fewer permissions are exercised", percentOf)
    .addHelpText(
      "after",
      `
Examples:
  svc-access model test testdata/model/*.yaml
  svc-access model test --min-coverage 100 --format json testdata/model/*.yaml

A validation file is YAML with schema or schemaFile, relationships, assertions (assertTrue,
assertFalse) and validation. A permission is exercised where an assertion or an expected relation
names it.

Exit codes: 0 all passed, 1 failures, 2 usage or unreadable input.`,
    )
    .action(test);
}

async function test(paths: string[], flags: TestFlags): Promise<void> {
  const [{ loadValidation }, { runValidation }, { createEngine }, { summarize, formatTests }] =
    await Promise.all([
      import("./files.ts"),
      import("../../authz/validation/run-validation.ts"),
      import("./embedded-engine.ts"),
      import("./test-report.ts"),
    ]);
  // All files are read before any is run, so that malformed files are reported at once.
  const loaded = [];
  for (const path of paths) loaded.push(await loadValidation(path));
  const results = [];
  for (const { file, model, modelPath } of loaded) {
    for (const line of file.notes) note(line);
    results.push({ model, modelPath, result: await runValidation(file, model, createEngine) });
  }
  const report = summarize(results, flags.minCoverage);
  process.stdout.write(formatTests(report, flags.format, { colors: showsColors(process.stdout) }));
  process.exitCode = report.failed > 0 || report.uncovered ? 1 : 0;
}

function percentOf(text: string): number {
  const percent = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && percent <= 100) return percent;
  throw new InvalidArgumentError("give a number from 0 to 100.");
}
