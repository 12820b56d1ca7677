import { Command } from "commander";
import type { Open } from "./serve.ts";

/**
 * The command `svc-iam serve`.
 *
 * @param configuration the file that is read if none is named
 * @param open opens what the service of a configuration needs
 */
export function serveCommand(configuration: string, open: Open): Command {
  return new Command("serve")
    .description("Serve the API, and the embedded identity provider, until SIGTERM.")
    .argument("[configuration]", "the file of the configuration", configuration)
    .addHelpText(
      "after",
      `
Examples:
  svc-iam serve
  svc-iam serve /etc/svc-iam/service.yaml

Exit codes: 0 stopped by a signal, 1 an unexpected error or a second signal, 2 usage, or a problem that
the message explains, such as a configuration, a key file or a database that cannot be used.`,
    )
    .action(async (file: string) => (await import("./serve.ts")).serve(file, open));
}
