import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { buildModel } from "./build-model.ts";
import { checkModel } from "./check/check-model.ts";
import type { Model } from "./model.ts";
import { Reporter } from "./reporter.ts";
import { parseSchema } from "./syntax/parse-schema.ts";

/**
 * Reads a model in SpiceDB's schema language, and checks it.
 *
 * Every error is collected, and the model holds whatever could be read; it is to be relied on only
 * where there are no diagnostics. Nothing is thrown, whatever the text.
 *
 * @param file the path that the diagnostics name
 */
export function parseModel(
  text: string,
  file: string,
): { model: Model; diagnostics: Diagnostic[] } {
  const reporter = new Reporter(file);
  const syntax = parseSchema(text, reporter.report);
  const model = buildModel(syntax, reporter.report);
  checkModel(model, syntax, reporter.report);
  return { model, diagnostics: reporter.diagnostics() };
}
