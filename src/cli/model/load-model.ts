import { displayPath } from "../../compiler/platform.ts";
import { MalformedFileError } from "../../compiler/usage-error.ts";
import { formatDiagnostic } from "../../diagnostics/diagnostic.ts";
import { type Model, parseModel } from "../../model/index.ts";
import { readText } from "./read-text.ts";

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
