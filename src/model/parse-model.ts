import { readRegularFile } from "../common/regular-file.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { buildModel } from "./check/build-model.ts";
import { checkModel } from "./check/check-model.ts";
import type { Model } from "./schema/model.ts";
import { parseSchema } from "./syntax/parse-schema.ts";
import { Reporter } from "./syntax/reporter.ts";

/**
 * Parses a model in SpiceDB's schema language, and checks it.
 *
 * It collects all errors, and never throws. The model contains everything that could be parsed; it
 * is valid only if there are no diagnostics.
 *
 * @param text the schema (docs/requirements.md, MODEL-1)
 * @param file - the path in diagnostics; the function does not read it
 *
 * @example
 * ```ts
 * const { model, diagnostics } = parseModel(readFileSync("model.zed", "utf8"), "model.zed");
 * for (const { line, column, message } of diagnostics) console.error(`${line}:${column} ${message}`);
 * if (diagnostics.length > 0) process.exit(1);
 * const engine = await createEmbeddedEngine({ model, store: createMemoryStore() });
 * ```
 */
export function parseModel(
  text: string,
  file: string,
): {
  /** What could be read. */
  model: Model;
  /** What is wrong, in the order of the text. */
  diagnostics: Diagnostic[];
} {
  const reporter = new Reporter(file);
  const syntax = parseSchema(text, reporter.report);
  const model = buildModel(syntax, reporter.report);
  checkModel(model, syntax, reporter.report);
  return { model, diagnostics: reporter.diagnostics() };
}

/** A model without errors, or the problems of the file, one line each. */
export type ModelReading =
  | { readonly model: Model; readonly problems?: undefined }
  | { readonly model?: undefined; readonly problems: readonly string[]; readonly cause?: unknown };

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "does not exist; create it, or name another file",
  EISDIR: "is a folder; name the file in it",
  EACCES: "cannot be read: this process has no right to read it; grant it",
};

/** Reads a model from a file. */
export function readModelFile(file: string): ModelReading {
  let text: string;
  try {
    text = readRegularFile(file).toString();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const problem = UNREADABLE[code ?? ""] ?? `cannot be read: ${message}`;
    return { problems: [`the model ${file} ${problem}`], cause };
  }
  return readModel(text, file);
}

/**
 * Reads a model from text.
 *
 * @param file - the name of the text in problems
 */
export function readModel(text: string, file: string): ModelReading {
  const { model, diagnostics } = parseModel(text, file);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return { model };
  return {
    problems: errors.map(
      ({ file, line, column, message }) => `${file}:${line}:${column} ${message}`,
    ),
  };
}
