import { Command } from "commander";
import { callCommand, listCommand } from "../run/flags.ts";
import { runCommand } from "../run/run-command.ts";

/** The command `svc-iam check`. */
export function checkCommand(): Command {
  return callCommand(
    new Command("check")
      .description("Ask whether a subject holds a permission on a resource.")
      .argument("<subject>", "type:id or type:id#relation, such as user:alice; me for yourself")
      .argument("<permission>", "a permission or relation of the model")
      .argument("<resource>", "type:id, such as zone:acme")
      .option("--explain", "show the path that allows it, or what was tried"),
  )
    .addHelpText(
      "after",
      `
A user is named by its id, user name or e-mail address, a group or service account by its id or name.
A question about others needs the right to see the relationships of the resource.

Examples:
  svc-iam check user:alice manage_users zone:acme
  svc-iam check me read project:etl --explain

Exit codes: 0 allowed, 1 not allowed, 2 usage, or a server that refuses or does not answer.`,
    )
    .action((subject: string, permission: string, resource: string, flags) =>
      runCommand(async () =>
        (await import("./check.ts")).check({ subject, permission, resource }, flags),
      ),
    );
}

/** The command `svc-iam who-can`. */
export function whoCanCommand(): Command {
  return listCommand(
    new Command("who-can")
      .description("List who holds a permission on a resource, with the path to it.")
      .argument("<permission>", "a permission or relation of the model")
      .argument("<resource>", "type:id, such as zone:acme")
      .option("--type <type>", "only subjects of this type, such as user"),
  )
    .addHelpText(
      "after",
      `
Examples:
  svc-iam who-can manage_users zone:acme
  svc-iam who-can read project:etl --type user --format json

Exit codes: 0 listed, 1 nobody holds it, 2 usage, or a server that refuses or does not answer.`,
    )
    .action((permission: string, resource: string, flags) =>
      runCommand(async () => (await import("./who-can.ts")).whoCan(permission, resource, flags)),
    );
}
