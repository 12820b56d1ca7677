import { Command, CommanderError } from "commander";
import { printable, printableLines } from "../common/printable.ts";
import { UsageError } from "../compiler/usage-error.ts";
import { version } from "../emit/version.ts";
import { explainCommand } from "./explain.ts";
import { generateCommand } from "./generate.ts";
import { initCommand } from "./init/init.ts";
import { lintCommand } from "./lint.ts";
import { modelCommand } from "./model/model.ts";
import { routesCommand } from "./routes.ts";

/** The exit codes: clean, findings, and usage or unreadable input. */
export const EXIT = { clean: 0, findings: 1, usage: 2 } as const;

/** The entry of `bin/svc-access`. */
export async function main(argv: readonly string[] = process.argv): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader such as head has read enough.
    if (error.code === "EPIPE") process.exit();
    throw error;
  });
  const program = new Command("svc-access")
    .description("Compiles the access policy beside each RPC into everything that enforces it.")
    .version(version)
    .exitOverride()
    .showHelpAfterError("(--help shows the usage)")
    .addHelpText(
      "after",
      `
Examples:
  svc-access init                          write buf.yaml, buf.gen.yaml and svc-access.yaml
  svc-access lint .                        judge all annotations of this repository
  buf build -o - | svc-access lint -       judge an image
  svc-access explain . GetSkill            say who may call an RPC, and why

Of a service (each has its own --help):
  svc-access audit list|export|follow      the audit events, while the service runs
  svc-access relationship list|touch|delete  the stored relationships, while the service is stopped
  svc-access database migrate              the tables of a service, made by the role that owns them

Exit codes: 0 clean, 1 findings, 2 usage or unreadable input.`,
    );
  for (const command of [
    lintCommand(),
    generateCommand(),
    routesCommand(),
    explainCommand(),
    initCommand(),
    modelCommand(),
  ]) {
    program.addCommand(command.exitOverride().showHelpAfterError("(--help shows the usage)"));
  }
  printSafely(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

/** What commander says of an argument holds the argument. */
function printSafely(command: Command): void {
  command.configureOutput({ outputError: (text, write) => write(printableLines(text)) });
  for (const child of command.commands) printSafely(child);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version end in an error of code 0; all others were printed.
    return error.exitCode === 0 ? EXIT.clean : EXIT.usage;
  }
  if (error instanceof UsageError) {
    process.stderr.write(`${printableLines(`svc-access: ${error.message}`)}\n`);
    return EXIT.usage;
  }
  const { message } = error as Error;
  process.stderr.write(
    `svc-access: internal error: ${printable(message.split("\n", 1)[0] ?? "")}; SVC_ACCESS_DEBUG=1 shows where\n`,
  );
  if (process.env["SVC_ACCESS_DEBUG"] === "1") {
    process.stderr.write(`${printableLines((error as Error).stack ?? "")}\n`);
  }
  return EXIT.usage;
}
