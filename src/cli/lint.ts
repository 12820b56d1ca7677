import { Command, Option } from "commander";
import { note } from "../common/note.ts";
import { type PlatformFlags, platformFlags, run, showsColors } from "./common.ts";
import { withDisplayPaths } from "./inputs.ts";
import { REPORTS } from "./report/report.ts";

interface LintFlags extends PlatformFlags {
  readonly format: string;
  readonly strict?: boolean;
}

/** `svc-access lint INPUT`. */
export function lintCommand(): Command {
  const command = new Command("lint")
    .description("Judges the access policies of an input by all rules.")
    .argument("<input>", "a folder of protos, a buf image, or - for an image on standard input")
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
  buf build -o - | svc-access lint --format json -

Exit codes: 0 no errors (with --strict: no warnings either), 1 findings, 2 usage or unreadable input.`,
    )
    .action(lint);
  for (const flag of platformFlags()) command.addOption(flag);
  return command;
}

async function lint(input: string, flags: LintFlags): Promise<void> {
  const { inputs, judgement } = await run([input], flags);
  for (const line of judgement.notes) note(line);
  const diagnostics = withDisplayPaths(judgement.diagnostics, inputs);
  const report = REPORTS[flags.format];
  const style = { colors: showsColors(process.stdout) };
  process.stdout.write(report?.({ diagnostics, rpcs: judgement.rpcs }, style) ?? "");
  const failed = diagnostics.some(({ severity }) => flags.strict === true || severity === "error");
  process.exitCode = failed ? 1 : 0;
}
