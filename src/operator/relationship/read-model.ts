import { readFileSync } from "node:fs";
import { printable } from "../../common/printable.ts";
import { type Model, parseModel } from "../../model/index.ts";
import { OperatorError } from "../operator-error.ts";

/** Reads a model. @throws OperatorError with all that is wrong with it */
export function readModel(file: string): Model {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new OperatorError(`the model ${file} cannot be read: ${(error as Error).message}`);
  }
  const { model, diagnostics } = parseModel(text, file);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return model;
  const lines = errors.map(({ line, column, message }) => `${file}:${line}:${column} ${message}`);
  throw new OperatorError(lines.map(printable).join("\n"));
}
