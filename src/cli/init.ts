import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command } from "commander";
import { UsageError } from "../compiler/usage-error.ts";
import { serviceStarter } from "./service-starter.ts";

/** `svc-access init [FOLDER]`. */
export function initCommand(): Command {
  return new Command("init")
    .description("Writes buf.yaml, buf.gen.yaml and svc-access.yaml for a service repository.")
    .argument("[folder]", "the repository", ".")
    .option("--googleapis", "google/api/annotations.proto comes from another module of buf.yaml")
    .option("--service <name>", "write a service to start from, too: proto, model, handlers")
    .addHelpText(
      "after",
      `
Examples:
  npm install --save-dev svc-access @bufbuild/buf && npx svc-access init
  npx svc-access init --service notes      a service that runs

A file that exists is left as it is.`,
    )
    .action(init);
}

function init(folder: string, flags: { googleapis?: boolean; service?: string }): void {
  const { service } = flags;
  const bufGen = bufGenYaml(service !== undefined);
  const files: readonly (readonly [string, string])[] = [
    ["buf.yaml", bufYaml(flags.googleapis === true)],
    ["buf.gen.yaml", bufGen],
    ...(service === undefined
      ? [["svc-access.yaml", SVC_ACCESS_YAML] as const]
      : serviceStarter(service)),
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
    process.stdout.write(`\nAdd to buf.gen.yaml:\n\n${bufGen}`);
  }
  process.stdout.write(service === undefined ? NEXT : nextOfService(folder));
}

const NEXT = "\nNext: write protos below proto/, then npx buf lint and npx buf generate.\n";

/** Node runs src/main.ts as it is, in a package of modules. */
function nextOfService(folder: string): string {
  const steps = ["npx buf lint", "npx buf generate", "npx tsc", "node src/main.ts"];
  if (!isModule(join(folder, "package.json"))) steps.unshift("npm pkg set type=module");
  return `\nNext:\n${steps.map((step) => `  ${step}\n`).join("")}`;
}

function isModule(path: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
    return (manifest as { type?: unknown } | null)?.type === "module";
  } catch {
    return false;
  }
}

/** Writes a file that does not exist; the flag makes sure that nothing came between. */
function writeNew(path: string, content: string): boolean {
  if (existsSync(path)) return false;
  try {
    mkdirSync(dirname(path), { recursive: true });
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

/** @param isRun whether Node runs the generated TypeScript as it is */
function bufGenYaml(isRun: boolean): string {
  const extension = isRun ? "ts" : "js";
  return `version: v2
clean: true
inputs:
  - directory: proto
plugins:
  - local: protoc-gen-es
    out: gen
    include_imports: true
    opt:
      - target=ts
      - import_extension=${extension}${isRun ? "\n      - erasable_syntax=true" : ""}
  - local: protoc-gen-svc-access
    out: gen
    strategy: all
    opt:
      - config=svc-access.yaml
      - import_extension=${extension}
`;
}

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
