import { Command } from "commander";
import { checkCommand } from "./check.ts";
import { diffCommand } from "./diff.ts";
import { explainModelCommand } from "./explain.ts";
import { mergeCommand } from "./merge.ts";
import { testCommand } from "./test.ts";

/** `svc-access model …`: commands for authorization models. */
export function modelCommand(): Command {
  const group = new Command("model")
    .description("Checks, tests, compares, merges and explains authorization models.")
    .addHelpText(
      "after",
      `
Examples:
  svc-access model check model/iam.zed
  svc-access model test testdata/model/*.yaml
  svc-access model diff old.zed new.zed --relationships relationships.txt
  svc-access model merge hub.zed git.zed --output platform.zed
  svc-access model explain model/iam.zed skill edit`,
    );
  for (const command of [
    checkCommand(),
    testCommand(),
    diffCommand(),
    mergeCommand(),
    explainModelCommand(),
  ]) {
    group.addCommand(command);
  }
  return group;
}
