import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { GeneratorRequest } from "../api/read/code-generator-request.ts";
import { describesService } from "../api/read/file-outline.ts";
import type { Target } from "../compiler/generate.ts";
import { UsageError } from "../compiler/usage-error.ts";
import type { PlatformConfig } from "../config/config.ts";
import type { PluginOptions } from "./options.ts";

/** The outputs that span files, by the target that makes them. */
const SPANNING: Readonly<Partial<Record<Target, string>>> = {
  policies: "policies.json",
  routes: "routes/",
  gateway: "gateway/",
};

/**
 * Refuses a run that sees, or may see, only a part of the files, where an output spans files.
 *
 * Such an output would be made several times, each time of a part, and the last one would stay. buf runs a
 * plugin once for each folder unless told otherwise, and a build may run protoc once for each file. From
 * inside, such a run looks like that of a repository with one folder or one file, so what is said of
 * the run decides: the request, the configuration, the template of buf, the option `files`.
 *
 * @param folder - the working folder, where the template of buf is
 * @throws UsageError where the run is, or may be, one of several.
 */
export function refusePartialRun(
  request: GeneratorRequest,
  { targets, files }: PluginOptions,
  config: PlatformConfig | undefined,
  folder: string,
): void {
  const outputs = targets.flatMap((target) => SPANNING[target] ?? []);
  if (files === "each" || outputs.length === 0) return;
  const why =
    siblingOutside(request) ??
    (request.isProtoc && files !== "all" ? onlyFile(request) : undefined) ??
    partOfService(request, config) ??
    (request.isProtoc ? undefined : byTemplate(request, config, folder));
  if (why === undefined) return;
  const what = outputs.length === 1 ? `${outputs[0]} is` : `${outputs.join(", ")} are`;
  throw new UsageError(`${why}; ${what} of all files: ${fixOf(request)}`);
}

function fixOf({ isProtoc }: GeneratorRequest): string {
  return isProtoc
    ? "name all of them in one run of protoc, or write files=each where each file has a run of its own, which leaves these out"
    : "write strategy: all beside the plugin in buf.gen.yaml, with all modules in one input";
}

/** A file of a package of the run, with services, that is only imported. */
function siblingOutside({ files }: GeneratorRequest): string | undefined {
  const described = files.map((file) => ({ ...describesService(file.bytes), target: file.target }));
  const packages = new Set(described.flatMap(({ package: name, target }) => (target ? name : [])));
  const outside = described.find(
    (file) => !file.target && file.hasServices && packages.has(file.package),
  );
  if (outside === undefined) return undefined;
  return `this run is not asked for ${outside.name}, whose package ${outside.package} it makes outputs of`;
}

function onlyFile({ filesToGenerate: [first, ...others] }: GeneratorRequest): string | undefined {
  if (others.length > 0) return undefined;
  return `protoc was asked for ${first} alone (where it is the only file, write files=all)`;
}

/** The folder of all files of the request; undefined where there are several. */
function onlyFolder({ filesToGenerate }: GeneratorRequest): string | undefined {
  const folder = posix.dirname(filesToGenerate[0] ?? "");
  return filesToGenerate.every((file) => posix.dirname(file) === folder) ? folder : undefined;
}

/** One folder, and a configured service that has packages in others. */
function partOfService(
  request: GeneratorRequest,
  config: PlatformConfig | undefined,
): string | undefined {
  const folder = onlyFolder(request);
  if (folder === undefined) return undefined;
  const read = targetPackages(request);
  for (const [name, { packages }] of Object.entries(config?.services ?? {})) {
    const missing = packages.find((packageName) => !read.has(packageName));
    if (missing === undefined || !packages.some((each) => read.has(each))) continue;
    return `this run sees the folder ${folder} alone, and the service ${name} also has the package ${missing} (or correct that name in svc-access.yaml)`;
  }
  return undefined;
}

/** A template of buf that makes several runs: for each folder, or for each input. */
function byTemplate(
  request: GeneratorRequest,
  config: PlatformConfig | undefined,
  folder: string,
): string | undefined {
  const template = readTemplate(folder);
  const only = onlyFolder(request);
  const isOfFolder = only !== undefined && usesDirectoryStrategy(template);
  const inputs = countInputs(template);
  if (!isOfFolder && inputs < 2) return undefined;
  const read = targetPackages(request);
  const configured = Object.values(config?.services ?? {}).flatMap(({ packages }) => packages);
  // Where all that is configured is there, no other run can have a part of it.
  if (configured.length > 0 && configured.every((name) => read.has(name))) return undefined;
  return isOfFolder
    ? `buf runs this plugin once for each folder, so that it sees ${only} alone`
    : `buf runs this plugin once for each of the ${inputs} inputs in buf.gen.yaml`;
}

function targetPackages({ files }: GeneratorRequest): ReadonlySet<string> {
  return new Set(
    files.flatMap(({ bytes, target }) => (target ? [describesService(bytes).package] : [])),
  );
}

/** The template in the working folder; empty where there is none to read. */
function readTemplate(folder: string): string {
  try {
    return readFileSync(join(folder, "buf.gen.yaml"), "utf8");
  } catch {
    return "";
  }
}

/** Whether a template names this plugin without `strategy: all`. */
function usesDirectoryStrategy(template: string): boolean {
  // One entry a plugin; the one that names this plugin must set the strategy.
  const entries = template.split(/^\s*-\s+(?=local:|remote:|protoc_builtin:|plugin:|name:)/m);
  const own = entries.filter((entry) => /svc-access/.test(entry.split("\n", 3).join("\n")));
  return own.length > 0 && own.some((entry) => !/^\s*strategy:\s*['"]?all\b/m.test(entry));
}

const INPUT =
  /(?:^|[\s{[,-])(?:directory|module|git_repo|tarball|zip_archive|proto_file|(?:binary|json|text|yaml)_image):/g;

/** How many inputs a template has. */
function countInputs(template: string): number {
  const [, inputs = ""] = /^inputs:([^\n]*(?:\n(?:[ \t-].*)?)*)/m.exec(template) ?? [];
  return inputs.replaceAll(/(?:^|\s)#.*/g, "").match(INPUT)?.length ?? 0;
}
