import { Command } from "commander";
import { type FormatFlags, withFormat } from "../run/flags.ts";
import { runCommand } from "../run/run-command.ts";

/** The command `svc-iam whoami`. */
export function whoAmICommand(): Command {
  return withFormat(
    new Command("whoami").description("Say who is logged in, at which server, and until when."),
  )
    .addHelpText(
      "after",
      `
The server is asked, so this also says whether the login is still accepted.

Examples:
  svc-iam whoami
  svc-iam whoami --format json | jq -r .id

Exit codes: 0 somebody is logged in, 2 usage, nobody is, or a server that refuses or does not answer.`,
    )
    .action(({ format }: FormatFlags) =>
      runCommand(async () => (await import("./show-login.ts")).whoAmI(format)),
    );
}

/** The command `svc-iam token`. */
export function tokenCommand(): Command {
  return withFormat(
    new Command("token").description("Print an access token of the login, for other programs."),
  )
    .addHelpText(
      "after",
      `
Only the token is written to standard output. It is refreshed before, if it expires soon. Whoever has it acts as you
until it expires: show it to nobody.

Examples:
  TOKEN=$(svc-iam token)
  curl -H "Authorization: Bearer $(svc-iam token)" https://iam.example.com/v1/iam/me

Exit codes: 0 printed, 2 usage, nobody is logged in, or the login has ended.`,
    )
    .action(({ format }: FormatFlags) =>
      runCommand(async () => (await import("./show-login.ts")).printToken(format)),
    );
}
