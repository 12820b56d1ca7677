import { printable } from "../../common/printable.ts";
import { type Model, readModelFile } from "../../model/index.ts";
import { OperatorError } from "../operator-error.ts";

/** Reads a model. @throws OperatorError with all that is wrong with it */
export function readModel(file: string): Model {
  const { model, problems } = readModelFile(file);
  if (problems === undefined) return model;
  throw new OperatorError(problems.map(printable).join("\n"));
}
