import { Command, Option } from "commander";
import { printableJson } from "../../common/printable.ts";
import { readText } from "../../compiler/read-text.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { count, findingsOf, type ReportStyle, showsColors } from "../report/findings.ts";
import { REPORTS } from "../report/report.ts";

/** `svc-access model check FILE`. */
export function checkCommand(): Command {
  return new Command("check")
    .description("Parses a model and checks its types, relations and permissions.")
    .argument("<file>", "a model in SpiceDB's schema language")
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["text", "json", "github-actions", "sarif"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access model check model/iam.zed
  svc-access model check --format github-actions model/iam.zed

Exit codes: 0 no errors, 1 findings, 2 usage or unreadable input.`,
    )
    .action(check);
}

async function check(path: string, { format }: { readonly format: string }): Promise<void> {
  const text = readText(path, `the model ${path}`);
  const [{ parseModel }, { displayPath }] = await Promise.all([
    import("../../model/index.ts"),
    import("../../compiler/platform.ts"),
  ]);
  const { model, diagnostics } = parseModel(text, displayPath(path));
  const definitions = [...model.definitions.values()];
  const found = {
    diagnostics,
    definitions: definitions.length,
    permissions: definitions.reduce((sum, { permissions }) => sum + permissions.size, 0),
  };
  process.stdout.write(formatFindings(found, format, { colors: showsColors(process.stdout) }));
  process.exitCode = diagnostics.length > 0 ? 1 : 0;
}

/** The result of the check of a model. */
export interface ModelFindings {
  readonly diagnostics: readonly Diagnostic[];
  readonly definitions: number;
  readonly permissions: number;
}

/** Findings in a model, in the formats of `svc-access lint`, with counts of definitions instead of RPCs. */
export function formatFindings(found: ModelFindings, format: string, style: ReportStyle): string {
  const { diagnostics, definitions, permissions } = found;
  if (format === "json") {
    return `${printableJson({ findings: findingsOf(diagnostics), definitions, permissions })}\n`;
  }
  const pieces = [...(REPORTS[format]?.({ diagnostics, rpcs: 0 }, style) ?? [])];
  if (format !== "text") return pieces.join("");
  const summary = `${count(definitions, "definition")}, ${count(permissions, "permission")}: ${count(diagnostics.length, "error")}`;
  return [...pieces.slice(0, -1), `${summary}\n`].join("");
}
