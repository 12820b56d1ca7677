import { Command, Option } from "commander";
import type { ExplainFlags } from "./explain-rpc.ts";
import { platformFlags } from "./input/check-inputs.ts";

/** `svc-access explain INPUT… METHOD`. */
export function explainCommand(): Command {
  const command = new Command("explain")
    .description("Explains who may call an RPC, and which relations grant its permission.")
    .usage("[options] <input...> <method>")
    .argument(
      "<arguments...>",
      "folders of protos, images, or - for an image on standard input; the last argument is an RPC: package.Service/Method, or an unambiguous end of it",
    )
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["text", "json"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access explain . hub.skills.v1.SkillService/PublishSkill
  svc-access explain . PublishSkill`,
    )
    .action(async (args: readonly string[], flags: ExplainFlags) => {
      const { explain } = await import("./explain-rpc.ts");
      await explain(args, flags);
    });
  for (const flag of platformFlags()) command.addOption(flag);
  return command;
}
