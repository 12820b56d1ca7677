import { dirname, resolve } from "node:path";
import { displayPath } from "../../compiler/platform.ts";
import { readText } from "../../compiler/read-text.ts";
import { formatDiagnostic } from "../../diagnostics/diagnostic.ts";
import { MalformedFileError } from "../../diagnostics/usage-error.ts";
import { type Model, parseModel } from "../../model/index.ts";
import { readValidationFile } from "../../model/validation/read-validation-file.ts";
import { lineStarts, malformed } from "../../model/validation/text-positions.ts";
import type { ValidationFile } from "../../model/validation/validation-file.ts";

/** A validation file with its model. */
export interface LoadedValidation {
  readonly file: ValidationFile;
  readonly model: Model;
  /** The file of the model; the validation file itself if it contains the schema. */
  readonly modelPath: string;
}

/**
 * Reads a validation file and its model.
 *
 * @throws UsageError if one of them cannot be read; MalformedFileError if it is malformed
 */
export function loadValidation(path: string): LoadedValidation {
  const shown = displayPath(path);
  const file = read(readText(path, `the validation file ${path}`), shown);
  const { schema } = file;
  if (schema.kind === "text") {
    return { file, model: parse(schema.text, shown, schema.placeOf), modelPath: shown };
  }
  const modelPath = displayPath(resolve(dirname(path), schema.path));
  const { line, column } = schema.position;
  const text = readText(modelPath, `${shown}:${line}:${column}: schemaFile ${schema.path}`);
  return { file, model: parse(text, modelPath), modelPath };
}

/** The beginning of a model, after comments. */
const MODEL =
  /^(?:\s|\/\/.*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:definition|caveat|use|import|partial)\s+["\w]/;

function read(text: string, shown: string): ValidationFile {
  try {
    return readValidationFile(text, shown);
  } catch (error) {
    if (!MODEL.test(text)) throw error;
    const message = "this is a model, not a validation file; svc-access model check checks a model";
    throw malformed(shown, { line: 1, column: 1 }, message);
  }
}

function parse(
  text: string,
  file: string,
  placeOf?: (offset: number) => { readonly line: number; readonly column: number },
): Model {
  const { model, diagnostics } = parseModel(text, file);
  if (diagnostics.length === 0) return model;
  const starts = lineStarts(text);
  const lines = diagnostics.map((diagnostic) => {
    const offset = (starts[(diagnostic.line ?? 1) - 1] ?? 0) + (diagnostic.column ?? 1) - 1;
    return formatDiagnostic({ ...diagnostic, ...placeOf?.(offset) });
  });
  throw new MalformedFileError(lines);
}
