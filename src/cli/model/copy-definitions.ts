import { shellWord } from "../../common/shell-word.ts";
import { type Definition, parseModel } from "../../model/index.ts";
import type { NamedModel } from "../../model/merge-models.ts";

/** A model with its text. */
export interface ModelText extends NamedModel {
  readonly text: string;
}

/** The types that the relations of a definition accept. */
export function typesOf({ relations }: Definition): string[] {
  return [...relations.values()].flatMap(({ subjects }) => subjects.map(({ type }) => type));
}

/**
 * How a model gets definitions of another one.
 *
 * @param names - the definitions, which the other one has
 * @returns what it has to copy, with the definitions that these name and that it lacks, and a command
 * that does so; undefined if the text has another form than awk finds
 */
export function copyFrom(
  from: ModelText,
  to: NamedModel,
  names: readonly string[],
): { readonly names: readonly string[]; readonly command: string | undefined } {
  const copied = new Set(names);
  // Names that are added during the iteration are visited, too.
  for (const name of copied) {
    const definition = from.model.definitions.get(name);
    for (const type of definition === undefined ? [] : typesOf(definition)) {
      if (!to.model.definitions.has(type)) copied.add(type);
    }
  }
  const sorted = [...copied].sort();
  const pattern = `^definition (${sorted.join("|").replaceAll("/", "\\/")}) `;
  const command = isFoundBy(new RegExp(pattern), from.text, sorted.length)
    ? `awk '/${pattern}/,/}$/' ${shellWord(from.file)} >> ${shellWord(to.file)}`
    : undefined;
  return { names: sorted, command };
}

/** Whether awk finds the definitions: whether each begins and ends at the start and the end of a line. */
function isFoundBy(start: RegExp, text: string, count: number): boolean {
  let isWithin = false;
  const lines = text.split("\n").filter((line) => {
    isWithin ||= start.test(line);
    const isFound = isWithin;
    if (line.endsWith("}")) isWithin = false;
    return isFound;
  });
  return parseModel(lines.join("\n"), "").model.definitions.size === count;
}
