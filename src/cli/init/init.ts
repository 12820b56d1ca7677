import { Command } from "commander";
import type { InitFlags } from "./initialize.ts";
import { COPIES } from "./shipped-protos.ts";

/** `svc-access init [FOLDER]`. */
export function initCommand(): Command {
  return new Command("init")
    .description("Writes buf.yaml, buf.gen.yaml and svc-access.yaml for a service repository.")
    .argument("[folder]", "the repository", ".")
    .option("--googleapis", "take google/api/annotations.proto from another module of buf.yaml")
    .option("--service <name>", "also write a starter service: proto, model, handlers, tests")
    .option("--update", "only update the copies of the annotation's protos, after an upgrade")
    .addHelpText(
      "after",
      `
Examples:
  npm install --save-dev svc-access @bufbuild/buf @bufbuild/protoc-gen-es && npx svc-access init
  npx svc-access init --service notes      a service that runs at once
  npx svc-access init --service bills bills      another service, in its own folder

Existing files stay unchanged; the parts that they lack are printed. The annotation's protos are
copied to ${COPIES}. Commit them: buf breaking --against '.git#branch=main' needs them in git.
From a folder of the repository, write '../.git#branch=main,subdir=FOLDER'.`,
    )
    .action(async (folder: string, flags: InitFlags) => {
      const { initialize } = await import("./initialize.ts");
      initialize(folder, flags);
    });
}
