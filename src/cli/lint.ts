import { Command, Option } from "commander";
import { note } from "../common/note.ts";
import { withDisplayPaths } from "./input/inputs.ts";
import { type PlatformFlags, platformFlags, run } from "./input/judge-inputs.ts";
import { showsColors } from "./report/findings.ts";
import { REPORTS } from "./report/report.ts";

interface LintFlags extends PlatformFlags {
  readonly format: string;
  readonly strict?: boolean;
}

/** `svc-access lint INPUT…`. */
export function lintCommand(): Command {
  const command = new Command("lint")
    .description("Judges the access policies of one or more inputs by all rules.")
    .argument("<input...>", "folders of protos, images, or - for an image on standard input")
    .addOption(
      new Option("--format <format>", "how findings are printed")
        .choices(Object.keys(REPORTS))
        .default("text"),
    )
    .option("--strict", "warnings count as findings")
    .addHelpText(
      "after",
      `
Examples:
  svc-access lint .
  svc-access lint --strict --format github-actions .
  svc-access lint hub.binpb iam.binpb      several inputs are one platform
  buf build -o - | svc-access lint --format json -

An image is what buf build -o makes, or protoc --descriptor_set_out --include_imports --include_source_info.

Exit codes: 0 no errors (with --strict: no warnings either), 1 findings, 2 usage or unreadable input.`,
    )
    .action(lint);
  for (const flag of platformFlags()) command.addOption(flag);
  return command;
}

async function lint(names: readonly string[], flags: LintFlags): Promise<void> {
  const { inputs, judgement } = await run(names, flags);
  for (const line of judgement.notes) note(line);
  const diagnostics = withDisplayPaths(judgement.diagnostics, inputs);
  const report = REPORTS[flags.format];
  const style = { colors: showsColors(process.stdout) };
  process.stdout.write(report?.({ diagnostics, rpcs: judgement.rpcs }, style) ?? "");
  const failed = diagnostics.some(({ severity }) => flags.strict === true || severity === "error");
  process.exitCode = failed ? 1 : 0;
}
