import { join, posix } from "node:path";
import type { GeneratorRequest } from "../api/descriptors/code-generator-request.ts";
import { type FileHeader, readFileHeader } from "../api/descriptors/file-outline.ts";
import type { BufTemplate, TemplatePlugin } from "../compiler/buf-template.ts";
import { spanningOutput } from "../compiler/targets.ts";
import type { PlatformConfig } from "../config/config.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import type { PluginOptions } from "./options.ts";

/**
 * Rejects a run that has, or may have, only some of the files, if an output spans files.
 *
 * Several such runs would overwrite that output, each with a part of it. By default, buf runs a plugin
 * once for each folder, and a build may run protoc once for each file. The request of such a run looks
 * like that of a repository with a single folder or file, so the configuration, the buf template and
 * the option `files` are considered, too.
 *
 * @param folder - the working directory, which has the buf template
 * @throws UsageError if the run is, or may be, one of several.
 */
export async function refusePartialRun(
  request: GeneratorRequest,
  { targets, files }: PluginOptions,
  config: PlatformConfig | undefined,
  folder: string,
): Promise<void> {
  const outputs = targets.flatMap((target) => spanningOutput(target) ?? []);
  if (files === "each" || outputs.length === 0) return;
  const headers = request.files.map(({ bytes, target }) => ({ ...readFileHeader(bytes), target }));
  const read = new Set(headers.flatMap(({ target, package: name }) => (target ? [name] : [])));
  const why =
    siblingOutside(headers, read) ??
    (request.isProtoc && files !== "all" ? onlyFile(request) : undefined) ??
    partOfService(request, config, read) ??
    (request.isProtoc || hasAll(config, read) ? undefined : await byTemplate(request, folder));
  if (why === undefined) return;
  const what = outputs.length === 1 ? `${outputs[0]} needs` : `${outputs.join(", ")} need`;
  throw new UsageError(`${why}; ${what} all files: ${fixOf(request)}`);
}

/** Whether the run has all configured packages: then no other run can have some of them. */
function hasAll(config: PlatformConfig | undefined, read: ReadonlySet<string>): boolean {
  const configured = Object.values(config?.services ?? {}).flatMap(({ packages }) => packages);
  return configured.length > 0 && configured.every((name) => read.has(name));
}

function fixOf({ isProtoc }: GeneratorRequest): string {
  return isProtoc
    ? "name all files in one run of protoc; or, to run protoc for each file, write files=each, which leaves these outputs out"
    : "add strategy: all to the plugin in buf.gen.yaml, with all modules in one input";
}

/** An imported file with services whose package is also in the run. */
function siblingOutside(
  headers: readonly (FileHeader & { readonly target: boolean })[],
  read: ReadonlySet<string>,
): string | undefined {
  const outside = headers.find(
    (file) => !file.target && file.hasServices && read.has(file.package),
  );
  if (outside === undefined) return undefined;
  return `this run does not include ${outside.name}, but generates from other files of its package ${outside.package}`;
}

function onlyFile({ filesToGenerate: [first, ...others] }: GeneratorRequest): string | undefined {
  if (others.length > 0) return undefined;
  return `this run of protoc has only ${first} (if there are no other files, write files=all)`;
}

/** The folder of all files of the request; undefined if there are several. */
function onlyFolder({ filesToGenerate }: GeneratorRequest): string | undefined {
  const folder = posix.dirname(filesToGenerate[0] ?? "");
  return filesToGenerate.every((file) => posix.dirname(file) === folder) ? folder : undefined;
}

/** One folder, and a configured service that has packages in others. */
function partOfService(
  request: GeneratorRequest,
  config: PlatformConfig | undefined,
  read: ReadonlySet<string>,
): string | undefined {
  const folder = onlyFolder(request);
  if (folder === undefined) return undefined;
  for (const [name, { packages }] of Object.entries(config?.services ?? {})) {
    const missing = packages.find((packageName) => !read.has(packageName));
    if (missing === undefined || !packages.some((each) => read.has(each))) continue;
    return `this run has only the folder ${folder}, but the service ${name} also has the package ${missing} (or correct that name in svc-access.yaml)`;
  }
  return undefined;
}

/** Finds a buf template that makes, or may make, a run for each folder or input. */
async function byTemplate(request: GeneratorRequest, folder: string): Promise<string | undefined> {
  // The YAML parser loads slowly, and few runs need it.
  const { BufTemplateError, readBufTemplate } = await import("../compiler/buf-template.ts");
  try {
    const template = readBufTemplate(join(folder, "buf.gen.yaml"));
    if (template === undefined) return undefined;
    const only = onlyFolder(request);
    if (only !== undefined && runsForEachFolder(template)) {
      return `buf runs this plugin once for each folder, and this run has only ${only}`;
    }
    const { length } = template.inputs;
    if (length < 2) return undefined;
    return `buf runs this plugin once for each of the ${length} inputs in buf.gen.yaml`;
  } catch (error) {
    if (!(error instanceof BufTemplateError)) throw error;
    return `whether this run has all files is unknown, since ${error.message.split("\n", 1)[0]}`;
  }
}

/** Whether a template runs this plugin, or a command that may be it, without `strategy: all`. */
function runsForEachFolder({ plugins }: BufTemplate): boolean {
  const named = plugins.filter(({ command }) => command.some((part) => part.includes(OWN)));
  // If no command has its name, any command may start it.
  const own = named.length > 0 ? named : plugins.filter(mayStartAnyPlugin);
  return own.some(({ strategy }) => strategy !== "all");
}

const OWN = "svc-access";

function mayStartAnyPlugin({ command, isLocal }: TemplatePlugin): boolean {
  return isLocal && !command.some((part) => part.includes("protoc-gen-"));
}
