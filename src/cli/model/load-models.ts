import { displayPath } from "../../compiler/platform.ts";
import { readText } from "../../compiler/read-text.ts";
import { formatDiagnostic } from "../../diagnostics/diagnostic.ts";
import { MalformedFileError } from "../../diagnostics/usage-error.ts";
import { parseModel } from "../../model/index.ts";
import { copyFrom, type ModelText, typesOf } from "./copy-definitions.ts";

/**
 * Reads models that become one.
 *
 * @throws UsageError if one cannot be read; MalformedFileError if one has errors, which also says how
 * it gets the definitions that only another one of them has
 */
export function loadModels(paths: readonly string[]): ModelText[] {
  const files = [...new Set(paths.map(displayPath))];
  const read = files.map((file) => {
    const text = readText(file, `the model ${file}`);
    return { file, text, ...parseModel(text, file) };
  });
  const wrong = read.filter(({ diagnostics }) => diagnostics.length > 0);
  if (wrong.length === 0) return read;
  const lines = wrong.flatMap((one) => [
    ...one.diagnostics.map(formatDiagnostic),
    ...definitionsElsewhere(one, read),
  ]);
  throw new MalformedFileError(lines);
}

/** A line for each other model that has definitions which this one names and lacks. */
function definitionsElsewhere(model: ModelText, models: readonly ModelText[]): string[] {
  const missing = new Set(
    [...model.model.definitions.values()]
      .flatMap(typesOf)
      .filter((type) => !model.model.definitions.has(type)),
  );
  return models.flatMap((other) => {
    const names = [...missing].filter((type) => other.model.definitions.has(type));
    if (names.length === 0) return [];
    for (const name of names) missing.delete(name);
    const copy = copyFrom(other, model, names);
    const how = copy.command === undefined ? "" : `: ${copy.command}`;
    return `${model.file}: a model has all definitions that it names; copy ${copy.names.join(", ")} from ${other.file}${how}`;
  });
}
