import { Option } from "commander";
import { displayPath } from "../../compiler/platform.ts";
import { readText } from "../../compiler/read-text.ts";
import { formatDiagnostic } from "../../diagnostics/diagnostic.ts";
import { MalformedFileError } from "../../diagnostics/usage-error.ts";
import { type Model, parseModel } from "../../model/index.ts";
import { readRelationships } from "../../model/validation/read-relationships.ts";
import type { PlacedRelationship } from "../../model/validation/validation-file.ts";

/**
 * Reads a model, which must have no errors.
 *
 * @throws UsageError if it cannot be read; MalformedFileError if it has errors
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
    `${what}, one per line, or a validation file (.yaml) with relationships`,
  );
}

/**
 * Reads a file of relationships.
 *
 * @throws UsageError if it cannot be read; MalformedFileError if it contains anything else
 */
export async function loadRelationships(path: string): Promise<PlacedRelationship[]> {
  const text = readText(path, `the file of relationships ${path}`);
  const file = displayPath(path);
  if (!/\.ya?ml$/.test(path)) return readRelationships(text, file);
  const { readYamlRelationships } = await import("../../model/validation/read-validation-file.ts");
  return readYamlRelationships(text, file);
}
