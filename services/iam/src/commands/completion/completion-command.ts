import { Argument, type Command } from "commander";
import { runCommand } from "../run/run-command.ts";

/**
 * The command `svc-iam completion`.
 *
 * @param program whose commands are completed
 */
export function completionCommand(program: Command): Command {
  return program
    .createCommand("completion")
    .description("Print a script that completes the commands and flags in a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      `
Examples:
  source <(svc-iam completion bash)
  svc-iam completion zsh > "\${fpath[1]}/_svc-iam"
  svc-iam completion fish > ~/.config/fish/completions/svc-iam.fish

Exit codes: 0 printed, 2 usage.`,
    )
    .action((shell: string) =>
      runCommand(async () =>
        (await import("./print-completion.ts")).printCompletion(program, shell),
      ),
    );
}
