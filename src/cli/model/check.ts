import { Command, Option } from "commander";
import { showsColors } from "../common.ts";
import { readText } from "./read-text.ts";

/** `svc-access model check FILE`. */
export function checkCommand(): Command {
  return new Command("check")
    .description("Parses a model and checks its types, relations and permissions.")
    .argument("<file>", "a model in SpiceDB's schema language")
    .addOption(
      new Option("--format <format>", "how findings are printed")
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
  const [{ parseModel }, { displayPath }, { formatFindings }] = await Promise.all([
    import("../../model/index.ts"),
    import("../../compiler/platform.ts"),
    import("./format-findings.ts"),
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
