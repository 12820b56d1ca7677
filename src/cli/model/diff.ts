import { Command, Option } from "commander";
import type { ModelChange } from "../../model/validation/diff-models.ts";
import { showsColors } from "../report/findings.ts";
import { relationshipsFlag } from "./files.ts";

interface DiffFlags {
  readonly relationships?: string;
  readonly format: string;
}

/** `svc-access model diff OLD NEW`. */
export function diffCommand(): Command {
  return new Command("diff")
    .description(
      "Compares two models: lists the changes, whether they widen or narrow access, and what blocks them.",
    )
    .argument("<old>", "the current model")
    .argument("<new>", "the new model")
    .addOption(relationshipsFlag("the stored relationships"))
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["text", "json"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access model diff old.zed new.zed
  svc-access model diff old.zed new.zed --relationships relationships.txt

A change widens or narrows if it certainly does so for the same relationships.
Exit codes: 0 nothing blocks the change, 1 a stored relationship blocks it (without
--relationships: one may block it, as a relation or a subject of one was removed), 2 usage or
unreadable input.`,
    )
    .action(diff);
}

async function diff(oldPath: string, newPath: string, flags: DiffFlags): Promise<void> {
  const [
    { loadModel, loadRelationships },
    { blockingRelationships, diffModels, mayBlock },
    { formatDiff },
  ] = await Promise.all([
    import("./files.ts"),
    import("../../model/validation/diff-models.ts"),
    import("./format-diff.ts"),
  ]);
  const before = loadModel(oldPath);
  const after = loadModel(newPath);
  const changes = diffModels(before, after).map((change: ModelChange) => {
    return { ...change, mayBlock: mayBlock(change, before, after) };
  });
  const blockers =
    flags.relationships === undefined
      ? undefined
      : blockingRelationships(after, await loadRelationships(flags.relationships));
  const report = { oldPath, newPath, relationships: flags.relationships, changes, blockers };
  process.stdout.write(formatDiff(report, flags.format, { colors: showsColors(process.stdout) }));
  const blocked =
    blockers === undefined ? changes.some(({ mayBlock }) => mayBlock) : blockers.length > 0;
  process.exitCode = blocked ? 1 : 0;
}
