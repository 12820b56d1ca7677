import type { Command } from "commander";
import { commandGroup } from "../run/api-command.ts";
import {
  ASKS_ON_TERMINAL,
  type ConfirmFlags,
  terminalConfirmedCommand,
} from "../run/confirm-flag.ts";
import { runCommand } from "../run/run-command.ts";
import { type SystemFlags, systemCommand } from "./system-command.ts";

const load = () => import("./clients.ts");

/**
 * The commands `svc-iam client …`.
 *
 * @param configuration the file that is read if none is named
 */
export function clientCommand(configuration: string): Command {
  const list = systemCommand("list", "List the clients of the embedded provider.", {
    configuration,
    examples: ["svc-iam client list"],
  }).action((file, flags) => runCommand(async () => (await load()).listClients(file, flags)));
  const plan = systemCommand("plan", "Compare iam.clients with the clients of the service.", {
    configuration,
    examples: ["svc-iam client plan /etc/svc-iam/service.yaml"],
    codes:
      "0 nothing differs, 1 something does, 2 usage, or a server that refuses or does not answer.",
  }).action((file, flags) => runCommand(async () => (await load()).planClients(file, flags)));
  const apply = terminalConfirmedCommand(
    systemCommand("apply", "Make iam.clients the clients of the service.", {
      configuration,
      details: `It does what a start with this configuration would do: clients that it lacks are removed. Other replicas
follow within a minute. A start with another configuration applies that one, so give all replicas the same.
Where it removes clients: ${ASKS_ON_TERMINAL.charAt(0).toLowerCase()}${ASKS_ON_TERMINAL.slice(1)}`,
      examples: ["svc-iam client plan && echo nothing to do || svc-iam client apply"],
    }),
  ).action((file: string, flags: SystemFlags & ConfirmFlags) =>
    runCommand(async () => (await load()).applyClients(file, flags)),
  );
  return commandGroup(
    "client",
    "Show and change the clients of the embedded provider, as the platform.",
    "Examples:\n  svc-iam client plan\n  svc-iam client apply",
    [list, plan, apply],
  );
}
