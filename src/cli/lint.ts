import { Command, Option } from "commander";
import { note, printPieces } from "../common/note.ts";
import { checkInputs, type PlatformFlags, platformFlags } from "./input/check-inputs.ts";
import { withDisplayPaths } from "./input/inputs.ts";
import { showsColors } from "./report/findings.ts";
import { REPORTS } from "./report/report.ts";

interface LintFlags extends PlatformFlags {
  readonly format: string;
  readonly strict?: boolean;
}

/** `svc-access lint INPUT…`. */
export function lintCommand(): Command {
  const command = new Command("lint")
    .description("Checks the access policies of one or more inputs against all rules.")
    .usage("[options] <input...>")
    .argument("[input...]", "folders of protos, images, or - for an image on standard input")
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(Object.keys(REPORTS))
        .default("text"),
    )
    .option("--strict", "treat warnings as errors")
    .addHelpText(
      "after",
      `
Examples:
  svc-access lint .
  svc-access lint --strict --format github-actions .
  svc-access lint hub.binpb iam.binpb      several inputs form one platform
  buf build -o - | svc-access lint --format json -

Make an image with buf build -o, or protoc --descriptor_set_out --include_imports --include_source_info.

Exit codes: 0 no errors (with --strict: no warnings either), 1 findings, 2 usage or unreadable input.`,
    )
    .action(lint);
  for (const flag of platformFlags()) command.addOption(flag);
  return command;
}

async function lint(names: readonly string[], flags: LintFlags): Promise<void> {
  const { inputs, checked } = await checkInputs(names, flags);
  for (const line of checked.notes) note(line);
  const diagnostics = withDisplayPaths(checked.diagnostics, inputs);
  const failed = diagnostics.some(({ severity }) => flags.strict === true || severity === "error");
  process.exitCode = failed ? 1 : 0;
  const report = REPORTS[flags.format];
  const style = { colors: showsColors(process.stdout) };
  await printPieces(report?.({ diagnostics, rpcs: checked.rpcs }, style) ?? []);
}
