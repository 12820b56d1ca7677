import { Command, Option } from "commander";
import type { MadeLink } from "../bootstrap/make-link.ts";
import { runCommand, say } from "./run/run-command.ts";

interface BootstrapFlags {
  readonly zone?: string;
  readonly format: "text" | "json";
}

/** The form of `iam.organization`. */
const ZONE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The exit codes of the command. */
const EXIT = { made: 0, owned: 1, failed: 2 } as const;

/**
 * The command `svc-iam bootstrap`.
 *
 * @param configuration the file that is read if none is named
 */
export function bootstrapCommand(configuration: string): Command {
  return new Command("bootstrap")
    .description("Make a link for the first owner of a zone. The service may run meanwhile.")
    .argument("[configuration]", "the file of the configuration", configuration)
    .option("--zone <id>", "the zone (default: iam.organization)")
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["text", "json"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
The link works once, for 30 minutes. Only the link itself is written to standard output.

Examples:
  svc-iam bootstrap
  svc-iam bootstrap /etc/svc-iam/service.yaml --format json

Exit codes: 0 the link was made, 1 the zone already has an owner, 2 usage, or a database that cannot be opened.`,
    )
    .action((file: string, flags: BootstrapFlags) => runCommand(() => bootstrap(file, flags)));
}

async function bootstrap(file: string, { zone: given, format }: BootstrapFlags): Promise<number> {
  const { loadCommandConfig } = await import("../config/load-iam-config.ts");
  const configuration = loadCommandConfig(file);
  const { config, sections } = configuration;
  const { organization } = sections.iam;
  const zone = given ?? organization;
  if (!ZONE.test(zone)) {
    say("--zone must be 1 to 64 letters, digits, '.', '_' and '-'");
    return EXIT.failed;
  }
  if (config.security.authn.provider === "embedded" && zone !== organization) {
    say(`the local users belong to iam.organization, ${organization}: leave out --zone`);
    return EXIT.failed;
  }
  const { makeLink } = await import("../bootstrap/make-link.ts");
  const made = await makeLink(configuration, zone);
  if (made === undefined) {
    say(`the zone ${zone} already has an owner, who can grant more`);
    return EXIT.owned;
  }
  process.stdout.write(`${format === "json" ? jsonOf(made) : made.url}\n`);
  if (format === "text") {
    say(
      `the person who uses this link becomes the owner of the zone ${zone}: it works once, until ${made.expires.toISOString()}`,
    );
  }
  return EXIT.made;
}

function jsonOf({ zone, url, expires }: MadeLink): string {
  return JSON.stringify({ zone, url, expires: expires.toISOString() });
}
