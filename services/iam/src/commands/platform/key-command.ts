import type { Command } from "commander";
import { commandGroup } from "../run/api-command.ts";
import { CommandError } from "../run/command-error.ts";
import type { FormatFlags } from "../run/flags.ts";
import { runCommand } from "../run/run-command.ts";
import { type SystemFlags, systemCommand } from "./system-command.ts";

interface RotateFlags extends SystemFlags {
  readonly urgent?: boolean;
  readonly encryption?: boolean;
}

/**
 * The commands `svc-iam key …`.
 *
 * @param configuration the file that is read if none is named
 * @param rewrap encrypts the database with the first key of the key file
 */
export function keyCommand(
  configuration: string,
  rewrap: (file: string, flags: FormatFlags) => Promise<number>,
): Command {
  const rotate = systemCommand("rotate", "Let the next signing key sign tokens.", {
    configuration,
    details: `The service rotates its signing keys by itself, every 30 days. The next key signs once it has been published for
15 minutes; with --urgent at once, where the current one is no longer secret.

With --encryption it works on the database, while the service runs, and needs no system token: it encrypts all
secrets with the first key of iam.encryption_key_file. Each replica must have started with a file that has the new
key first and the old one after it; after it, the old key may be removed. svc-iam rewrap does the same.`,
    examples: ["svc-iam key rotate", "svc-iam key rotate --encryption"],
    codes:
      "0 rotated, 1 with --encryption: a value could not be opened and is as it was, 2 usage, or a server, a key file or a database that refuses or does not answer.",
  })
    .option("--urgent", "also if services may not know the next key yet")
    .option("--encryption", "the encryption key of the database, instead of the signing key")
    .action((file: string, { encryption = false, ...flags }: RotateFlags) =>
      runCommand(async () => {
        if (!encryption) return (await import("./rotate-key.ts")).rotateKey(file, flags);
        if (flags.urgent === undefined && flags.server === undefined) return rewrap(file, flags);
        throw new CommandError(
          "--encryption works on the database: leave out --urgent and --server, which are for the signing key",
        );
      }),
    );
  return commandGroup(
    "key",
    "Rotate the keys of the service, as the platform.",
    "Examples:\n  svc-iam key rotate\n  svc-iam key rotate --encryption",
    [rotate],
  );
}
