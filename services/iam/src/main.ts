#!/usr/bin/env node
/** The command `svc-iam`. */
import { Command } from "commander";
import { runServer } from "svc-access/runtime";
import { loadIamConfig } from "./config/load-iam-config.ts";
import { openIam } from "./server.ts";

const CONFIG = "service.yaml";

const program = new Command("svc-iam")
  .description("The identity and access service.")
  .showHelpAfterError("(svc-iam --help shows the commands)")
  .configureOutput({ outputError: (text, write) => write(`svc-iam: ${text}`) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

program
  .command("serve")
  .description("Serve the API, and the embedded identity provider, until SIGTERM.")
  .argument("[configuration]", "the file of the configuration", CONFIG)
  .addHelpText(
    "after",
    `
Examples:
  svc-iam serve
  svc-iam serve /etc/svc-iam/service.yaml`,
  )
  .action(async (file: string) => {
    await runServer(() => openIam(loadIamConfig(file)));
  });

await program.parseAsync();
