import { Command, Option } from "commander";
import type { ModelChange } from "../../model/validation/diff-models.ts";
import { showsColors } from "../report/findings.ts";
import { relationshipsFlag } from "./files.ts";

interface DiffFlags {
  readonly relationships?: string;
  readonly format: string;
  readonly failOn: "blocked" | "widens";
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
    .addOption(
      new Option("--fail-on <finding>", "what the exit code 1 reports")
        .choices(["blocked", "widens"])
        .default("blocked"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access model diff old.zed new.zed
  svc-access model diff old.zed new.zed --relationships relationships.txt
  svc-access model diff main.zed model.zed --fail-on widens    in CI, for a review of wider access

A change widens or narrows if it certainly does so for the same relationships.
Exit codes: 0 nothing blocks the change, 1 a stored relationship blocks it (without
--relationships: one may block it, as a relation or a subject of one was removed), 2 usage or
unreadable input. With --fail-on widens: 1 only if a change widens access, or may widen it.`,
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
  const widened = changes.some(({ effect }) => effect === "widens" || effect === "unclear");
  process.exitCode = (flags.failOn === "widens" ? widened : blocked) ? 1 : 0;
}
