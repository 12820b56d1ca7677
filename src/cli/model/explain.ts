import { Command, Option } from "commander";
import { printable, printableJson } from "../../common/printable.ts";
import { UsageError } from "../../diagnostics/usage-error.ts";
import type { Model } from "../../model/index.ts";
import { relationshipsFlag } from "./files.ts";

interface ExplainFlags {
  readonly relationships?: string;
  readonly check?: string;
  readonly format: string;
}

/** `svc-access model explain FILE TYPE PERMISSION`. */
export function explainModelCommand(): Command {
  return new Command("explain")
    .description(
      "Explains which relations grant a permission, or why a check is allowed or denied.",
    )
    .argument("<file>", "a model in SpiceDB's schema language")
    .argument("[type]", "a type of the model")
    .argument("[permission]", "a permission or relation of the type")
    .addOption(relationshipsFlag("the relationships for --check"))
    .option("--check <check>", "a check to decide: type:id#permission@type:id")
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["text", "json"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access model explain model/iam.zed skill edit
  svc-access model explain model/iam.zed --relationships relationships.txt --check 'skill:deploy#edit@user:ann'

Exit codes: 0 explained (even if denied), 1 a relationship that the model does not allow,
2 usage or unreadable input.`,
    )
    .action(explain);
}

async function explain(
  path: string,
  type: string | undefined,
  permission: string | undefined,
  flags: ExplainFlags,
): Promise<void> {
  if ((type === undefined) !== (permission === undefined)) {
    throw new UsageError("name a type and a permission, as in: skill edit");
  }
  if (type === undefined && flags.check === undefined) {
    throw new UsageError("name a type and a permission, or a check with --check");
  }
  if ((flags.check === undefined) !== (flags.relationships === undefined)) {
    throw new UsageError("--check and --relationships need each other; set both");
  }
  const { loadModel } = await import("./files.ts");
  const model = loadModel(path);
  const document: Record<string, unknown> = {};
  const lines: string[] = [];
  if (type !== undefined && permission !== undefined) {
    const { grants, text } = await explainGrants(model, path, type, permission);
    Object.assign(document, grants);
    lines.push(...text);
  }
  if (flags.check !== undefined && flags.relationships !== undefined) {
    const { explainCheck } = await import("./explain-check.ts");
    const explained = await explainCheck(model, flags.check, flags.relationships);
    if (explained === undefined) {
      process.exitCode = 1;
      return;
    }
    Object.assign(document, explained.document);
    if (lines.length > 0) lines.push("");
    lines.push(...explained.lines);
  }
  process.stdout.write(
    flags.format === "json"
      ? `${printableJson(document)}\n`
      : `${lines.map(printable).join("\n")}\n`,
  );
}

async function explainGrants(model: Model, path: string, type: string, permission: string) {
  const [{ formatGrants, grantsOf }, { didYouMean }] = await Promise.all([
    import("../../model/index.ts"),
    import("../../diagnostics/nearest.ts"),
  ]);
  const grants = grantsOf(model, type, permission);
  if (grants !== undefined) return { grants, text: formatGrants(grants) };
  const definition = model.definitions.get(type);
  if (definition === undefined) {
    throw new UsageError(
      `${path} has no type ${type}${didYouMean(type, model.definitions.keys())}`,
    );
  }
  const names = [...definition.relations.keys(), ...definition.permissions.keys()];
  throw new UsageError(
    `${type} of ${path} has no relation or permission ${permission}${didYouMean(permission, names)}`,
  );
}
