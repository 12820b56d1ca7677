import { Command } from "commander";
import { exportCommand } from "./export.ts";
import { followCommand } from "./follow.ts";
import { listCommand } from "./list.ts";

/** `svc-access audit …`: the audit log of a service, while it runs. */
export function auditCommand(): Command {
  const group = new Command("audit")
    .description("Reads the audit events of a service, while it runs or is stopped.")
    .addHelpText(
      "after",
      `
Examples:
  svc-access audit list --config service.yaml --from 1h --decision denied
  svc-access audit export --store notes.db --from 2026-11-01 --to 2026-12-01 > november.ndjson
  svc-access audit follow --store notes.db --resource item:first`,
    );
  for (const command of [listCommand(), exportCommand(), followCommand()])
    group.addCommand(command);
  return group;
}
