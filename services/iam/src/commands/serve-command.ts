import { Command } from "commander";
import { runServer, type ServerOptions, StartUpError } from "svc-access/runtime";
import { EncryptionKeyError } from "../secrets/encryption-keys.ts";
import { UnsealError } from "../secrets/secret-box.ts";

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
    .action(async (file: string) => {
      await runServer(() => opened(open, file), "svc-iam");
    });
}

type Open = (file: string) => Promise<ServerOptions>;

async function opened(open: Open, file: string): Promise<ServerOptions> {
  try {
    return await open(file);
  } catch (error) {
    // The operator must fix the key file, so the exit code is that of a wrong configuration.
    const isOfKeys = error instanceof EncryptionKeyError || error instanceof UnsealError;
    throw isOfKeys ? new StartUpError([error.message], { cause: error }) : error;
  }
}
