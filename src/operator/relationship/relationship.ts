import { Command } from "commander";
import { deleteCommand } from "./delete.ts";
import { listCommand } from "./list.ts";
import { touchCommand } from "./touch.ts";

/** `svc-access relationship …`: the stored relationships of the embedded engine. */
export function relationshipCommand(): Command {
  const group = new Command("relationship")
    .description("Lists, writes and deletes the stored relationships of a stopped service.")
    .addHelpText(
      "after",
      `
Examples:
  svc-access relationship list --store notes.relationships.db
  svc-access relationship list --store notes.relationships.db --model model.zed --misfit
  svc-access relationship touch --config service.yaml item:first#owner@user:alice
  svc-access relationship delete --store notes.relationships.db --model model.zed --misfit --yes`,
    );
  for (const command of [listCommand(), touchCommand(), deleteCommand()]) group.addCommand(command);
  return group;
}
