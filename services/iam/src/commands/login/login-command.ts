import { Command } from "commander";
import { type FormatFlags, withFormat } from "../run/flags.ts";
import { runCommand } from "../run/run-command.ts";

/**
 * The client that the command line is at the embedded provider. `iam.clients` declares it, and
 * `security.authn.oidc.audience` lists it.
 */
export const COMMAND_LINE_CLIENT = "3f0d5b3e-8a51-4f0e-9a43-5c1e0a7c21d4";

/** The command `svc-iam login`. */
export function loginCommand(): Command {
  return withFormat(
    new Command("login")
      .description("Log in with a browser. Other commands then act as this person.")
      .argument("[server]", "iam.public_url of the server; if absent, that of the last login")
      .option("--client-id <id>", "the client of the command line", COMMAND_LINE_CLIENT)
      .option("--issuer <url>", "the identity provider (default: <server>/v1/iam/oidc)"),
  )
    .addHelpText(
      "after",
      `
The login is kept in $XDG_STATE_HOME/svc-iam/login.json (~/.local/state if that is not set), which only its
owner can read; SVC_IAM_LOGIN_FILE names another file. It is refreshed as long as it is used.

The server declares the client in iam.clients, with flows: [device] and without a secret, and lists its id in
security.authn.oidc.audience.

Examples:
  svc-iam login https://iam.example.com
  svc-iam login https://iam.example.com --issuer https://id.example.com --client-id 8b1c…

Exit codes: 0 logged in, 2 usage, a login that was refused, or a server that cannot be used.`,
    )
    .action((server: string | undefined, flags) =>
      runCommand(async () => (await import("./log-in.ts")).logIn(server, flags)),
    );
}

/** The command `svc-iam logout`. */
export function logoutCommand(): Command {
  return withFormat(new Command("logout").description("End the login, at the server as well."))
    .addHelpText(
      "after",
      `
Examples:
  svc-iam logout

Exit codes: 0 logged out, or nobody was logged in; 2 usage, or a server that cannot be reached: the file is
removed all the same, and the session at the server lasts until svc-iam session end, or until it expires.`,
    )
    .action(({ format }: FormatFlags) =>
      runCommand(async () => (await import("./log-in.ts")).logOut(format)),
    );
}
