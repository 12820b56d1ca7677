import { dirname, resolve } from "node:path";
import { Option } from "commander";
import { displayPath } from "../../compiler/platform.ts";
import { readText } from "../../compiler/read-text.ts";
import { formatDiagnostic } from "../../diagnostics/diagnostic.ts";
import { MalformedFileError } from "../../diagnostics/usage-error.ts";
import { type Model, parseModel } from "../../model/index.ts";
import { readRelationships } from "../../model/validation/read-relationships.ts";
import { lineStarts, malformed } from "../../model/validation/text-positions.ts";
import type { PlacedRelationship, ValidationFile } from "../../model/validation/validation-file.ts";

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
export async function loadValidation(path: string): Promise<LoadedValidation> {
  const shown = displayPath(path);
  const file = await read(readText(path, `the validation file ${path}`), shown);
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

async function read(text: string, shown: string): Promise<ValidationFile> {
  const { readValidationFile } = await import("../../model/validation/read-validation-file.ts");
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
