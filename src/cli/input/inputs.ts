import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fileName } from "../../api/descriptors/code-generator-request.ts";
import { DescriptorError, type DescriptorFile } from "../../api/descriptors/file-outline.ts";
import { readImage } from "../../api/descriptors/image.ts";
import { readStandardInput } from "../../common/standard-streams.ts";
import { displayPath } from "../../compiler/platform.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { UsageError } from "../../diagnostics/usage-error.ts";
import { buildImage, listModules } from "./buf.ts";

/** One input: its files, and the folder that their names are relative to, if known. */
export interface Input {
  readonly files: readonly DescriptorFile[];
  readonly folder?: string;
}

const INPUTS =
  "pass . for the working directory, another folder of protos, an image, or - for standard input";
const BINARY_IMAGE = /\.(?:binpb|bin|pb|img)(?:\.gz)?$/;

/**
 * Reads the inputs of a command: images, standard input, and inputs that buf builds.
 *
 * @throws UsageError if one of them cannot be read.
 */
export function readInputs(names: readonly string[], progress: (line: string) => void): Input[] {
  if (names.length === 0) throw new UsageError(`missing required argument 'input': ${INPUTS}`);
  if (names.includes("")) throw new UsageError(`an input is empty: ${INPUTS}`);
  if (names.filter((name) => name === "-").length > 1) {
    throw new UsageError("only one input can be standard input");
  }
  try {
    return names.flatMap((name) =>
      readInput(name, progress).map((input): Input => {
        const from = input.folder ?? (name === "-" ? "standard input" : name);
        return { ...input, files: input.files.map((file) => ({ ...file, input: from })) };
      }),
    );
  } catch (error) {
    if (error instanceof DescriptorError) throw new UsageError(error.message);
    throw error;
  }
}

function readInput(name: string, progress: (line: string) => void): Input[] {
  if (name === "-")
    return [{ files: readImage(unzip(readStandardInput(), "standard input"), "standard input") }];
  const kind = statSync(name, { throwIfNoEntry: false });
  if (kind?.isFile() && BINARY_IMAGE.test(name)) {
    return [{ files: readImage(unzip(readFile(name), name), name) }];
  }
  if (kind === undefined && !/[:/@#]/.test(name)) {
    throw new UsageError(
      `${name} does not exist; pass a folder of protos, an image, or - for standard input`,
    );
  }
  if (kind?.isDirectory()) return moduleFolders(name).map((folder) => build(folder, progress));
  progress(`building ${name} with buf`);
  return [{ files: readImage(buildImage(name), name) }];
}

function build(folder: string, progress: (line: string) => void): Input {
  progress(`building ${folder} with buf`);
  return { files: readImage(buildImage(folder), folder), folder };
}

/** The workspace's own modules; those below `node_modules` are only imported. */
function moduleFolders(folder: string): string[] {
  if (!existsSync(join(folder, "buf.yaml"))) return [folder];
  const modules = listModules(folder).filter((path) => !path.split("/").includes("node_modules"));
  return modules.length === 0 ? [folder] : modules.map((path) => join(folder, path));
}

function readFile(name: string): Uint8Array {
  try {
    return readFileSync(name);
  } catch (error) {
    throw new UsageError(`${name} cannot be read: ${(error as Error).message}`);
  }
}

function unzip(bytes: Uint8Array, source: string): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: 1 << 30 });
  } catch (error) {
    throw new UsageError(`${source} is not a gzip file: ${(error as Error).message}`);
  }
}

/** The diagnostics with paths that a user can open from the working directory. */
export function withDisplayPaths<T extends Diagnostic>(
  diagnostics: readonly T[],
  inputs: readonly Input[],
): T[] {
  const shown = displayPaths(inputs);
  return diagnostics.map((diagnostic) => ({ ...diagnostic, file: shown(diagnostic.file) }));
}

/** The path of a file from the working directory, by its name in the inputs; other names as they are. */
export function displayPaths(inputs: readonly Input[]): (file: string) => string {
  let paths: Map<string, string> | undefined;
  return (name) => {
    paths ??= pathsOf(inputs);
    return paths.get(name) ?? name;
  };
}

function pathsOf(inputs: readonly Input[]): Map<string, string> {
  const paths = new Map<string, string>();
  for (const { files, folder } of inputs) {
    if (folder === undefined) continue;
    for (const file of files) {
      if (!file.target) continue;
      const name = fileName(file.bytes);
      paths.set(name, displayPath(join(folder, name)));
    }
  }
  return paths;
}
