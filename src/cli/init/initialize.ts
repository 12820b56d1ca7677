import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { printableLines } from "../../common/printable.ts";
import { writeFiles } from "../../compiler/output-folder.ts";
import { UsageError } from "../../diagnostics/usage-error.ts";
import type { OutputFile } from "../../emit/output-file.ts";
import { additionsToBufGen, bufGenYaml, inputsOf, mayClean, outputFolder } from "./buf-gen-yaml.ts";
import { additionsToBufYaml, checkPluginCommand, newBufYaml } from "./buf-yaml.ts";
import { nextSteps } from "./next-steps.ts";
import { COPIES, shippedProtos } from "./shipped-protos.ts";
import { generatedCode, sourceFolders } from "./starter/generated-code.ts";
import { serviceStarter } from "./starter/service-starter.ts";
import { configLacks, modelLacks } from "./starter/starter-lacks.ts";
import { choosePorts } from "./starter/starter-ports.ts";
import { tsconfig, tsconfigLacks } from "./tsconfig.ts";
import { readWorkspace, type Workspace } from "./workspace.ts";

/** The options of `svc-access init`. */
export interface InitFlags {
  readonly googleapis?: boolean;
  readonly service?: string;
  readonly update?: boolean;
}

/** Writes the files of a repository that it lacks. */
export function initialize(folder: string, flags: InitFlags): void {
  if (flags.update === true && flags.service !== undefined) {
    throw new UsageError("--update only updates copies: run init --service without it");
  }
  if (folder === "") throw new UsageError("the folder is empty: pass . for the working directory");
  try {
    mkdirSync(folder, { recursive: true });
    const workspace = readWorkspace(folder, { googleapis: flags.googleapis === true });
    if (flags.update === true) update(folder, workspace);
    else start(folder, workspace, flags);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${folder} cannot be written: ${(error as Error).message}`);
  }
}

function start(folder: string, workspace: Workspace, { service }: InitFlags): void {
  const { own, annotation } = workspace;
  const root = own[0] as string;
  const plugin = checkPluginCommand(installedAt(folder));
  const gen = generatedCode(service === undefined ? "gen" : outputFolder(folder));
  const ports = service === undefined ? undefined : choosePorts(folder, service);
  const starter =
    service === undefined || ports === undefined
      ? undefined
      : serviceStarter(service, root, installedAt(folder), gen, ports);
  if (service !== undefined) refuseOtherService(folder, service);
  // Reading may fail, so it comes before any write.
  const bufGenLacks = additionsToBufGen(folder);
  if (annotation === undefined) writeNew(folder, copies(COPIES, workspace));
  const isCleaned = mayClean(folder);
  const bufGen = bufGenYaml(inputsOf(folder, workspace), isCleaned);
  mkdirSync(join(folder, root), { recursive: true });
  const kept = writeNew(folder, [
    { name: "buf.yaml", content: newBufYaml(workspace, plugin) },
    { name: "buf.gen.yaml", content: bufGen },
    ...(starter ?? [{ name: "svc-access.yaml", content: svcAccessYaml(installedAt(folder)) }]),
    { name: "tsconfig.json", content: tsconfig(sourceFolders(gen, service !== undefined)) },
  ]);
  for (const name of kept) say(`${name} exists and stays unchanged`);
  if (annotation !== undefined) reportCopies(folder, annotation, workspace);
  printMissing("buf.yaml", kept.includes("buf.yaml") ? additionsToBufYaml(workspace, plugin) : "");
  printMissing("buf.gen.yaml", bufGenLacks);
  printMissing("tsconfig.json", tsconfigLacks(join(folder, "tsconfig.json")));
  if (service !== undefined && starter !== undefined) {
    const given = (name: string) => textOf(join(folder, name)) ?? "";
    const [proto = ""] = starter.map(({ name }) => name).filter((name) => name.endsWith(".proto"));
    const [config, model] = ["svc-access.yaml", "model.zed"] as const;
    printMissing(config, configLacks(given(config), contentOf(starter, config), service));
    printMissing(model, modelLacks(given(model), contentOf(starter, model), given(proto)));
  }
  if (ports !== undefined && !kept.includes("service.yaml")) {
    const { http, grpc, metrics } = ports;
    say(`${service} listens on ${http} (HTTP), ${grpc} (gRPC) and ${metrics} (metrics)`);
  }
  if (!isCleaned && !kept.includes("buf.gen.yaml")) {
    say(
      "\ngen is not empty, so buf.gen.yaml has no clean: true: add it if all files in gen are generated",
    );
  }
  say(nextSteps(folder, root, service).trimEnd());
}

/** Updates the copies after an upgrade of this package. */
function update(folder: string, workspace: Workspace): void {
  const { annotation = COPIES } = workspace;
  if (isInstalled(annotation)) {
    say(`${annotation} is a module of buf.yaml and needs no copies`);
    return;
  }
  const stale = staleCopies(folder, annotation, workspace);
  writeFiles(folder, stale);
  for (const { name } of stale) say(`${name} updated`);
  if (stale.length === 0) say(`the copies in ${annotation} are those of this version`);
  if (workspace.annotation === undefined) {
    const plugin = checkPluginCommand(installedAt(folder));
    printMissing("buf.yaml", additionsToBufYaml(workspace, plugin));
  }
}

function copies(module: string, { hasGoogle }: Workspace): OutputFile[] {
  return shippedProtos(!hasGoogle).map(([name, content]) => ({
    name: module === "." ? name : `${module}/${name}`,
    content,
  }));
}

/** Copies of Google's protos are included only if the annotation's module is entirely ours. */
function staleCopies(folder: string, module: string, workspace: Workspace): OutputFile[] {
  return copies(module, workspace).filter(
    ({ name, content }) => textOf(join(folder, name)) !== content,
  );
}

function reportCopies(folder: string, module: string, workspace: Workspace): void {
  if (isInstalled(module)) {
    say(`
${module} is a module of buf.yaml, and is not in git, so buf breaking --against '.git#branch=main'
cannot build it. To change that: remove the module, run npx svc-access init --update, and commit ${COPIES}.`);
    return;
  }
  const stale = staleCopies(folder, module, workspace);
  if (stale.length === 0) return;
  const names = stale.map(({ name }) => name).join(", ");
  say(`\nout of date: ${names}; run npx svc-access init --update`);
}

/** Two services in one folder would share `src/main.ts`. */
function refuseOtherService(folder: string, service: string): void {
  const other = /^service: *["']?([^"'\s#]+)/m.exec(
    textOf(join(folder, "service.yaml")) ?? "",
  )?.[1];
  if (other === undefined || other === service) return;
  throw new UsageError(
    `the service ${other} is in this folder: give ${service} its own folder, for example npx svc-access init --service ${service} ${service}`,
  );
}

/** The path of this package relative to a folder: in an npm workspace, it is installed above. */
function installedAt(folder: string): string {
  const name = join("node_modules", "svc-access");
  const start = resolve(folder);
  for (let place = start; ; place = dirname(place)) {
    if (existsSync(join(place, name))) {
      return relative(start, join(place, name)).replaceAll(sep, "/");
    }
    if (dirname(place) === place) return "node_modules/svc-access";
  }
}

function isInstalled(module: string): boolean {
  return module.split("/").includes("node_modules");
}

/** Writes all files that do not exist, or none of them. @returns the names of existing files */
function writeNew(folder: string, files: readonly OutputFile[]): string[] {
  const missing = files.filter(({ name }) => !existsSync(join(folder, name)));
  writeFiles(folder, missing);
  for (const { name } of missing) say(`${name} written`);
  return files.filter((file) => !missing.includes(file)).map(({ name }) => name);
}

function printMissing(name: string, lack: string): void {
  if (lack !== "") say(`\nAdd to ${name}:\n\n${lack.trimEnd()}`);
}

function contentOf(files: readonly OutputFile[], name: string): string {
  return files.find((file) => file.name === name)?.content ?? "";
}

function textOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function say(text: string): void {
  process.stdout.write(`${printableLines(text)}\n`);
}

/**
 * The platform configuration of a repository without a service to start from.
 *
 * @param installed - the path of this package, relative to the repository
 */
export function svcAccessYaml(installed: string): string {
  return `# yaml-language-server: $schema=${installed}/schemas/svc-access.schema.json
environment: development

# The authorization model, which defines the permissions.
model: ${installed}/model/iam.zed

# The deployed services and their protobuf packages.
# Without this list, each package is its own service.
#
# services:
#   orders:
#     packages: [acme.orders.v1]
#     ports: {http: 18001, grpc: 19001}
`;
}
