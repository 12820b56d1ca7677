import { join } from "node:path";
import { Command, Option } from "commander";
import { note } from "../common/note.ts";
import { printable } from "../common/printable.ts";
import { checkTargets } from "../compiler/check-targets.ts";
import { generate } from "../compiler/generate.ts";
import { compareFiles, writeFiles } from "../compiler/output-folder.ts";
import { removeFiles, staleFiles } from "../compiler/stale-files.ts";
import { DEFAULT_TARGETS, TARGETS, type Target } from "../compiler/targets.ts";
import { formatDiagnostic } from "../diagnostics/diagnostic.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import type { OutputFile } from "../emit/output-file.ts";
import { RULES } from "../rules/index.ts";
import { checkInputs, type PlatformFlags, platformFlags } from "./input/check-inputs.ts";
import { withDisplayPaths } from "./input/inputs.ts";
import { soleImageNotes } from "./input/sole-images.ts";
import { count } from "./report/findings.ts";

interface GenerateFlags extends PlatformFlags {
  readonly out: string;
  readonly target: readonly Target[];
  readonly importExtension: string;
  readonly check?: true;
}

/** `svc-access generate INPUT… --out DIR [--check]`. */
export function generateCommand(): Command {
  const command = new Command("generate")
    .description("Generates the outputs of one or more inputs at once, without buf generate.")
    .usage("[options] <input...>")
    .argument("[input...]", "folders of protos, buf images, or - for an image on standard input")
    .requiredOption("--out <folder>", "the output folder; all files are written, or none")
    .addOption(
      new Option("--target <target...>", "the targets to generate")
        .choices(TARGETS)
        .default(DEFAULT_TARGETS, DEFAULT_TARGETS.join(", ")),
    )
    .addOption(
      new Option(
        "--import-extension <extension>",
        "the extension of relative imports in TypeScript",
      )
        .choices(["none", "js", "ts"])
        .default("none"),
    )
    .option("--check", "write nothing; list the files of the output folder that do not match")
    .addHelpText(
      "after",
      `
Examples:
  svc-access generate . --out gen
  svc-access generate hub.binpb iam.binpb --target gateway --out deploy
  svc-access generate . --out gen --import-extension ts --check

Several inputs form one platform: two services that claim the same route on a host are a finding, and
so is a service of a frontend that no input has. Files of the edge in the output folder that are no
longer generated, such as those of a removed frontend, are removed.
Exit codes: 0 written, 1 findings and nothing written, 2 usage or unreadable input.
With --check: 0 all files match, 1 findings or files that do not match, 2 usage or unreadable input.`,
    )
    .action(runGenerate);
  for (const flag of platformFlags()) command.addOption(flag);
  return command;
}

async function runGenerate(
  names: readonly string[],
  flags: GenerateFlags,
  command: Command,
): Promise<void> {
  const rules = RULES.filter(({ category }) => category === "ACCESS");
  const { inputs, platform, checked: read } = await checkInputs(names, flags, rules);
  // By default, a repository without edge gets no gateway files. An explicit request must not leave stale ones.
  const asksForGateway =
    command.getOptionValueSource("target") === "cli" && flags.target.includes("gateway");
  if (asksForGateway && platform.config?.config.edge === undefined) {
    const { noEdge } = await import("../emit/gateway/notes.ts");
    throw new UsageError(noEdge(platform.config?.file));
  }
  const checked = checkTargets(read, platform, flags.target);
  for (const line of checked.notes) note(line);
  const isEdge = flags.target.includes("gateway") && platform.config?.config.edge !== undefined;
  if (isEdge) for (const line of soleImageNotes(inputs, checked)) note(line);
  const errors = checked.diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    for (const diagnostic of withDisplayPaths(errors, inputs)) {
      process.stderr.write(`${formatDiagnostic(diagnostic)}\n`);
    }
    note(`${count(errors.length, "error")}; nothing is generated`);
    process.exitCode = 1;
    return;
  }
  const { files, notes } = await generate(checked, platform, {
    targets: flags.target,
    importOptions: [`import_extension=${flags.importExtension}`],
  });
  for (const line of notes) note(line);
  if (flags.check) return reportDrift(flags.out, files);
  const stale = staleFiles(flags.out, files);
  writeFiles(flags.out, files);
  removeFiles(flags.out, stale);
  for (const name of stale) note(`removed ${join(flags.out, name)}, which is no longer generated`);
  process.stdout.write(`${printable(`${count(files.length, "file")} in ${flags.out}`)}\n`);
}

/** Lists the files that do not match. */
function reportDrift(folder: string, files: readonly OutputFile[]): void {
  const drifted = compareFiles(folder, files);
  const stale = staleFiles(folder, files).map((name) => join(folder, name));
  for (const { path, state } of drifted) process.stdout.write(`${printable(`${path} ${state}`)}\n`);
  for (const path of stale)
    process.stdout.write(`${printable(`${path} is no longer generated`)}\n`);
  const checked = count(files.length, "file");
  if (drifted.length + stale.length === 0) {
    process.stdout.write(`${printable(`${checked} in ${folder} match`)}\n`);
    return;
  }
  const more = stale.length === 0 ? "" : `, and ${stale.length} more must be removed`;
  note(
    `${drifted.length} of ${checked} in ${folder} do not match${more}; generate again, and commit`,
  );
  process.exitCode = 1;
}
