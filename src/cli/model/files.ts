import { readFileSync } from "node:fs";
import { Option } from "commander";
import { displayPath } from "../../compiler/platform.ts";
import { formatDiagnostic } from "../../diagnostics/diagnostic.ts";
import { MalformedFileError, UsageError } from "../../diagnostics/usage-error.ts";
import { type Model, parseModel } from "../../model/index.ts";

/**
 * Reads a text that a user names.
 *
 * @param what what it is, for the message: `the model model/iam.zed`
 * @throws UsageError where it cannot be read
 */
export function readText(path: string, what = path): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new UsageError(`${what} does not exist`);
    if (code === "EISDIR") throw new UsageError(`${what} is a folder; name a file`);
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
      throw new UsageError(`${what} is not UTF-8 text`);
    }
    throw new UsageError(`${what} cannot be read: ${message}`);
  }
}

/**
 * Reads a model that must be without errors.
 *
 * @throws UsageError where it cannot be read; MalformedFileError where it has errors
 */
export function loadModel(path: string): Model {
  const text = readText(path, `the model ${path}`);
  const { model, diagnostics } = parseModel(text, displayPath(path));
  if (diagnostics.length > 0) {
    throw new MalformedFileError(diagnostics.map(formatDiagnostic));
  }
  return model;
}

/** The flag `--relationships`. */
export function relationshipsFlag(what: string): Option {
  return new Option(
    "--relationships <file>",
    `${what}, one a line, or a validation file (.yaml) that holds some`,
  );
}
