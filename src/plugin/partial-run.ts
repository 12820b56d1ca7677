import { join, posix } from "node:path";
import type { GeneratorRequest } from "../api/descriptors/code-generator-request.ts";
import { type FileHeader, readFileHeader } from "../api/descriptors/file-outline.ts";
import type { BufTemplate, TemplatePlugin } from "../compiler/buf-template.ts";
import type { Target } from "../compiler/targets.ts";
import type { PlatformConfig } from "../config/config.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import type { PluginOptions } from "./options.ts";

/** The output that spans files, by the target that makes it; undefined where each is of one file. */
const SPANNING: Readonly<Record<Target, string | undefined>> = {
  policies: "policies.json",
  routes: "routes/",
  server: undefined,
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
export async function refusePartialRun(
  request: GeneratorRequest,
  { targets, files }: PluginOptions,
  config: PlatformConfig | undefined,
  folder: string,
): Promise<void> {
  const outputs = targets.flatMap((target) => SPANNING[target] ?? []);
  if (files === "each" || outputs.length === 0) return;
  const headers = request.files.map(({ bytes, target }) => ({ ...readFileHeader(bytes), target }));
  const read = new Set(headers.flatMap(({ target, package: name }) => (target ? [name] : [])));
  const why =
    siblingOutside(headers, read) ??
    (request.isProtoc && files !== "all" ? onlyFile(request) : undefined) ??
    partOfService(request, config, read) ??
    (request.isProtoc || hasAll(config, read) ? undefined : await byTemplate(request, folder));
  if (why === undefined) return;
  const what = outputs.length === 1 ? `${outputs[0]} is` : `${outputs.join(", ")} are`;
  throw new UsageError(`${why}; ${what} of all files: ${fixOf(request)}`);
}

/** Whether all packages that are configured are read: then no other run can have a part of them. */
function hasAll(config: PlatformConfig | undefined, read: ReadonlySet<string>): boolean {
  const configured = Object.values(config?.services ?? {}).flatMap(({ packages }) => packages);
  return configured.length > 0 && configured.every((name) => read.has(name));
}

function fixOf({ isProtoc }: GeneratorRequest): string {
  return isProtoc
    ? "name all of them in one run of protoc, or write files=each where each file has a run of its own, which leaves these out"
    : "write strategy: all beside the plugin in buf.gen.yaml, with all modules in one input";
}

/** A file of a package of the run, with services, that is only imported. */
function siblingOutside(
  headers: readonly (FileHeader & { readonly target: boolean })[],
  read: ReadonlySet<string>,
): string | undefined {
  const outside = headers.find(
    (file) => !file.target && file.hasServices && read.has(file.package),
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
  read: ReadonlySet<string>,
): string | undefined {
  const folder = onlyFolder(request);
  if (folder === undefined) return undefined;
  for (const [name, { packages }] of Object.entries(config?.services ?? {})) {
    const missing = packages.find((packageName) => !read.has(packageName));
    if (missing === undefined || !packages.some((each) => read.has(each))) continue;
    return `this run sees the folder ${folder} alone, and the service ${name} also has the package ${missing} (or correct that name in svc-access.yaml)`;
  }
  return undefined;
}

/** A template of buf that makes several runs, for each folder or for each input, or that may do so. */
async function byTemplate(request: GeneratorRequest, folder: string): Promise<string | undefined> {
  // The parser of YAML takes a while to load, and few runs come this far.
  const { BufTemplateError, readBufTemplate } = await import("../compiler/buf-template.ts");
  try {
    const template = readBufTemplate(join(folder, "buf.gen.yaml"));
    if (template === undefined) return undefined;
    const only = onlyFolder(request);
    if (only !== undefined && runsForEachFolder(template)) {
      return `buf runs this plugin once for each folder, so that it sees ${only} alone`;
    }
    const { length } = template.inputs;
    if (length < 2) return undefined;
    return `buf runs this plugin once for each of the ${length} inputs in buf.gen.yaml`;
  } catch (error) {
    if (!(error instanceof BufTemplateError)) throw error;
    return `whether this run has all files is not known, since ${error.message.split("\n", 1)[0]}`;
  }
}

/** Whether a template runs this plugin, or what may be it, without `strategy: all`. */
function runsForEachFolder({ plugins }: BufTemplate): boolean {
  const named = plugins.filter(({ command }) => command.some((part) => part.includes(OWN)));
  // Without its name, a command of whatever other name may start it.
  const own = named.length > 0 ? named : plugins.filter(mayStartAnyPlugin);
  return own.some(({ strategy }) => strategy !== "all");
}

const OWN = "svc-access";

function mayStartAnyPlugin({ command, isLocal }: TemplatePlugin): boolean {
  return isLocal && !command.some((part) => part.includes("protoc-gen-"));
}
