import { Command } from "commander";
import type { ServerOptions } from "svc-access/runtime";
import manifest from "../package.json" with { type: "json" };
import { auditCommand } from "./commands/audit/audit-command.ts";
import { bootstrapCommand } from "./commands/bootstrap-command.ts";
import { completionCommand } from "./commands/completion/completion-command.ts";
import { configCommand } from "./commands/config-command.ts";
import { connectBy } from "./commands/connection/connection.ts";
import { tokenCommand, whoAmICommand } from "./commands/connection/show-login-command.ts";
import { endSessionsCommand } from "./commands/end-sessions-command.ts";
import { loginCommand, logoutCommand } from "./commands/login/login-command.ts";
import { migrateCommand } from "./commands/migrate-command.ts";
import { groupCommand } from "./commands/people/group-command.ts";
import { serviceAccountCommand } from "./commands/people/service-account-command.ts";
import { sessionCommand } from "./commands/people/session-command.ts";
import { userCommand } from "./commands/people/user-command.ts";
import { checkCommand, whoCanCommand } from "./commands/permissions/check-command.ts";
import { relationshipCommand } from "./commands/permissions/relationship-command.ts";
import { clientCommand } from "./commands/platform/client-command.ts";
import { keyCommand } from "./commands/platform/key-command.ts";
import { rewrapAll, rewrapCommand } from "./commands/rewrap-command.ts";
import { serveCommand } from "./commands/serve-command.ts";

/** The configuration that commands read if none is named. */
const CONFIG = "service.yaml";

/**
 * The program `svc-iam` with all its commands. Their definitions load nothing but the parser of arguments; a
 * command loads what it needs when it runs.
 */
export function createProgram(): Command {
  const program = new Command("svc-iam")
    .description("The identity and access service.")
    .version(manifest.version)
    .configureOutput({
      outputError: (text, write) =>
        write(`svc-iam: ${text.trim().replace(/\s+/g, " ")} (--help shows the usage)\n`),
    })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  const commands = {
    "The service, by its configuration:": [
      serveCommand(CONFIG, openService),
      configCommand(CONFIG),
      migrateCommand(CONFIG),
      rewrapCommand(CONFIG),
      bootstrapCommand(CONFIG),
      endSessionsCommand(CONFIG),
      clientCommand(CONFIG),
      keyCommand(CONFIG, rewrapAll),
    ],
    "The login of the command line:": [
      loginCommand(),
      logoutCommand(),
      whoAmICommand(),
      tokenCommand(),
    ],
    "People and programs:": [
      userCommand(),
      groupCommand(),
      serviceAccountCommand(),
      sessionCommand(),
    ],
    "What they may do, and did:": [
      checkCommand(),
      whoCanCommand(),
      relationshipCommand(),
      auditCommand(),
    ],
  };
  for (const [heading, group] of Object.entries(commands)) {
    program.commandsGroup(heading);
    for (const command of group) program.addCommand(command);
  }
  program.commandsGroup("The shell:");
  program.addCommand(completionCommand(program));
  program.hook("preAction", (_, command) => {
    const file: unknown = command.opts()["offline"];
    connectBy(
      typeof file === "string"
        ? async () => (await import("./offline.ts")).connectOffline(file)
        : async () => (await import("./commands/connection/logged-in.ts")).connectLoggedIn(),
    );
  });
  settle(program);
  return program;
}

/** Commander passes settings on only to commands that it creates itself. */
function settle(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    settle(command);
  }
}

async function openService(file: string): Promise<ServerOptions> {
  const { loadIamConfig } = await import("./config/load-iam-config.ts");
  const { openIam } = await import("./server.ts");
  return openIam(loadIamConfig(file));
}
