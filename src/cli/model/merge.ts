import { basename, dirname } from "node:path";
import { Command, Option } from "commander";
import { note } from "../../common/note.ts";
import { printable, printableJson } from "../../common/printable.ts";
import { displayPath } from "../../compiler/platform.ts";
import { writeFiles } from "../../compiler/write-files.ts";
import {
  compareDiagnostics,
  type Diagnostic,
  formatDiagnostic,
} from "../../diagnostics/diagnostic.ts";
import { UsageError } from "../../diagnostics/usage-error.ts";
import type { MergeConflict, MergedModel } from "../../model/merge-models.ts";
import { count, findingsOf } from "../report/findings.ts";

interface MergeFlags {
  readonly output?: string;
  readonly format: string;
}

/** `svc-access model merge FILE…`. */
export function mergeCommand(): Command {
  return new Command("merge")
    .description(
      "Makes the platform's model of those of its services: what an engine that they share holds.",
    )
    .argument(
      "<file...>",
      "the models of the services, and model/iam.zed where IAM shares the engine",
    )
    .option("--output <file>", "where the model is written (default: standard output)")
    .addOption(
      new Option("--format <format>", "how the result is printed")
        .choices(["text", "json"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access model merge hub.zed git.zed node_modules/svc-access/model/iam.zed --output platform.zed
  svc-access model merge services/*/model.zed | zed schema write /dev/stdin
  svc-access model merge --format json hub.zed git.zed

A definition that several models have must mean the same in each; the order of its members, white
space and comments do not matter. The output depends on the files alone, and not on their order.
Exit codes: 0 merged, 1 conflicts and nothing written, 2 usage or unreadable input.`,
    )
    .action(merge);
}

async function merge(paths: readonly string[], flags: MergeFlags): Promise<void> {
  const [{ loadModel }, { mergeModels }, { printModel }] = await Promise.all([
    import("./files.ts"),
    import("../../model/merge-models.ts"),
    import("../../model/print-model.ts"),
  ]);
  const names = [...new Set(paths.map(displayPath))];
  const merged = mergeModels(names.map((file) => ({ file, model: loadModel(file) })));
  const diagnostics = merged.conflicts.map(describe).sort(compareDiagnostics);
  if (diagnostics.length > 0) {
    if (flags.format === "json") printJson(diagnostics, undefined);
    else {
      for (const diagnostic of diagnostics)
        process.stderr.write(`${formatDiagnostic(diagnostic)}\n`);
      note(`${count(diagnostics.length, "conflict")}; nothing is merged`);
    }
    process.exitCode = 1;
    return;
  }
  const text = textOf(merged, names, printModel);
  if (flags.output !== undefined) write(flags.output, text, names);
  if (flags.format === "json") printJson([], flags.output === undefined ? text : undefined);
  else if (flags.output === undefined) process.stdout.write(text);
  else {
    const definitions = count(merged.model.definitions.size, "definition");
    const line = `${definitions} of ${count(names.length, "model")} in ${flags.output}`;
    process.stdout.write(`${printable(line)}\n`);
  }
}

function textOf(
  { model, sources }: MergedModel,
  names: readonly string[],
  printModel: typeof import("../../model/print-model.ts").printModel,
): string {
  const files = onOneLine([...names].sort());
  const head = `// Made by svc-access model merge from ${files}. DO NOT EDIT.\n`;
  return head + printModel(model, (name) => `From ${onOneLine(sources.get(name) ?? [])}.`);
}

/** Names in a comment, which a line break in one of them would end. */
function onOneLine(names: readonly string[]): string {
  return printable(names.join(", "));
}

function describe(conflict: MergeConflict): Diagnostic {
  const { what, file, position, otherFile, otherPosition } = conflict;
  const other = `${otherFile}:${otherPosition.line}:${otherPosition.column}`;
  return {
    rule: "MODEL_MERGE_CONFLICT",
    severity: "error",
    message: `${what}; the other is at ${other}; make both the same, or give one of them another name`,
    file,
    line: position.line,
    column: position.column,
  };
}

function printJson(diagnostics: readonly Diagnostic[], model: string | undefined): void {
  process.stdout.write(`${printableJson({ findings: findingsOf(diagnostics), model })}\n`);
}

function write(path: string, content: string, inputs: readonly string[]): void {
  if (inputs.includes(displayPath(path))) {
    throw new UsageError(`${path} is one of the models; name another file`);
  }
  writeFiles(dirname(path), [{ name: basename(path), content }]);
}
