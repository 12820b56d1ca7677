import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { UsageError } from "../compiler/usage-error.ts";

/** `svc-access init [FOLDER]`. */
export function initCommand(): Command {
  return new Command("init")
    .description("Writes buf.yaml, buf.gen.yaml and svc-access.yaml for a service repository.")
    .argument("[folder]", "the repository", ".")
    .option("--googleapis", "google/api/annotations.proto comes from another module of buf.yaml")
    .addHelpText(
      "after",
      `
Examples:
  npm install --save-dev svc-access @bufbuild/buf && npx svc-access init

A file that exists is left as it is.`,
    )
    .action(init);
}

function init(folder: string, flags: { googleapis?: boolean }): void {
  const files: readonly (readonly [string, string])[] = [
    ["buf.yaml", bufYaml(flags.googleapis === true)],
    ["buf.gen.yaml", BUF_GEN_YAML],
    ["svc-access.yaml", SVC_ACCESS_YAML],
  ];
  const kept: string[] = [];
  try {
    mkdirSync(join(folder, "proto"), { recursive: true });
    for (const [name, content] of files) {
      if (!writeNew(join(folder, name), content)) kept.push(name);
      else process.stdout.write(`${name} written\n`);
    }
  } catch (error) {
    throw new UsageError(`${folder} cannot be written: ${(error as Error).message}`);
  }
  for (const name of kept) process.stdout.write(`${name} exists and is left as it is\n`);
  if (kept.includes("buf.yaml") && !mentionsPlugin(join(folder, "buf.yaml"))) {
    process.stdout.write(`\nAdd to buf.yaml:\n\n${bufYaml(flags.googleapis === true)}`);
  }
  if (kept.includes("buf.gen.yaml") && !mentionsPlugin(join(folder, "buf.gen.yaml"))) {
    process.stdout.write(`\nAdd to buf.gen.yaml:\n\n${BUF_GEN_YAML}`);
  }
  process.stdout.write(
    "\nNext: write protos below proto/, then npx buf lint and npx buf generate.\n",
  );
}

/** Writes a file that does not exist; the flag makes sure that nothing came between. */
function writeNew(path: string, content: string): boolean {
  if (existsSync(path)) return false;
  try {
    writeFileSync(path, content, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function mentionsPlugin(path: string): boolean {
  return /svc-access/.test(readFileSync(path, "utf8"));
}

function bufYaml(googleapis: boolean): string {
  return `version: v2
modules:
  - path: proto
  - path: node_modules/svc-access/proto${
    googleapis
      ? `
    includes:
      - node_modules/svc-access/proto/svc`
      : ""
  }
    lint:
      ignore:
        - node_modules/svc-access/proto
plugins:
  - plugin: buf-plugin-svc-access
    options:
      config: svc-access.yaml
lint:
  use:
    - STANDARD
    - ACCESS
`;
}

const BUF_GEN_YAML = `version: v2
clean: true
inputs:
  - directory: proto
plugins:
  - local: protoc-gen-es
    out: gen
    include_imports: true
    opt:
      - target=ts
      - import_extension=js
  - local: protoc-gen-svc-access
    out: gen
    strategy: all
    opt:
      - config=svc-access.yaml
      - import_extension=js
`;

const SVC_ACCESS_YAML = `# yaml-language-server: $schema=node_modules/svc-access/schemas/svc-access.schema.json
environment: development

# The authorization model: what an action is checked against.
model: node_modules/svc-access/model/iam.zed

# What is deployed as one process, and the protobuf packages that it serves.
# Without services, each package is one.
#
# services:
#   orders:
#     packages: [acme.orders.v1]
#     ports: {http: 18001, grpc: 19001}
`;
