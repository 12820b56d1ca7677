import { readFileSync } from "node:fs";
import type { Model } from "./model.ts";
import { parseModel } from "./parse-model.ts";

/** A model without errors, or what keeps a file from being one, a line each. */
export type ModelReading =
  | { readonly model: Model; readonly problems?: undefined }
  | { readonly model?: undefined; readonly problems: readonly string[]; readonly cause?: unknown };

/** Reads the model of a file. */
export function readModelFile(file: string): ModelReading {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const problem =
      code === "ENOENT"
        ? "does not exist; create it, or name another file"
        : `cannot be read: ${message}`;
    return { problems: [`the model ${file} ${problem}`], cause };
  }
  return readModel(text, file);
}

/**
 * Reads the text of a model.
 *
 * @param file what the text is called in problems
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
