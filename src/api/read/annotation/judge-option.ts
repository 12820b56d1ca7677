import type { FileOutline } from "../file-outline.ts";
import { type DefinedExtension, type DefinedField, readDefinedTypes } from "./definition.ts";
import { EXTENDEE, readFrom } from "./find-definition.ts";
import type { GenuineOption } from "./genuine-options.ts";
import { type DefinitionProblem, enumerate, quote } from "./judge-definition.ts";

/**
 * Says why an option of others, such as `google.api.http`, cannot be believed: the input defines it in
 * another way than its publisher, so that its bytes mean something else than they are read as.
 *
 * What a version lacks or adds changes nothing of what is read, and is believed.
 *
 * @param files - all files of one input, also those that are imported only
 * @param extensions - the extensions of all options of RPCs that they declare
 */
export function judgeOption(
  option: GenuineOption,
  files: readonly FileOutline[],
  extensions: readonly DefinedExtension[],
): DefinitionProblem | undefined {
  const { extension } = option;
  const differences = [...differencesOfTypes(option, files)];
  for (const { extendee, field, file } of extensions) {
    const fields = option.messages.get(extendee);
    if (fields?.some(({ number }) => number === field.number)) {
      differences.push(
        `${quote(field.name)} of ${quote(file)} takes ${field.number} of ${extendee}`,
      );
    }
  }
  if (extension === undefined) return problemOf(differences, false);
  const hasItsNumber = ({ extendee, field }: DefinedExtension) =>
    extendee === EXTENDEE && field.number === extension.number;
  const found = extensions.filter((one) => one.field.name === extension.name || hasItsNumber(one));
  if (found.length === 0) {
    return {
      message: `the input does not hold the definition of the option ${extension.number}, so nothing says what it means; build the input with its imports`,
      isRenumbered: false,
    };
  }
  for (const { extendee, field, file } of found) {
    if (extendee === EXTENDEE && isSame(field, extension)) continue;
    differences.push(
      `${quote(file)} has ${quote(describe(field))} of ${quote(extendee)} instead of ${describe(extension)}`,
    );
  }
  return problemOf(differences, !found.some(hasItsNumber));
}

function problemOf(
  differences: readonly string[],
  isRenumbered: boolean,
): DefinitionProblem | undefined {
  if (differences.length === 0) return undefined;
  return {
    message: `the input defines it in another way than its publisher: ${enumerate(differences)}; take the file as it is published`,
    isRenumbered,
  };
}

function* differencesOfTypes(
  option: GenuineOption,
  files: readonly FileOutline[],
): Iterable<string> {
  for (const file of files) {
    if (file.package !== option.package) continue;
    const { messages, enums } = readFrom(file, () => readDefinedTypes(file));
    for (const { name, fields } of messages) {
      const genuine = option.messages.get(name) ?? [];
      for (const field of fields) {
        const own = genuine.find((one) => one.number === field.number || one.name === field.name);
        if (own === undefined || isSame(field, own)) continue;
        yield `${name} of ${quote(file.name)} has ${quote(describe(field))} instead of ${describe(own)}`;
      }
    }
    for (const { name, values } of enums) {
      const genuine = option.enums.get(name) ?? [];
      for (const [value, number] of values) {
        const own = genuine.find((one) => one[0] === value || one[1] === number);
        if (own === undefined || (own[0] === value && own[1] === number)) continue;
        yield `${name} of ${quote(file.name)} has ${quote(value)} = ${number} instead of ${own[0]} = ${own[1]}`;
      }
    }
  }
}

function isSame(left: DefinedField, right: DefinedField): boolean {
  return describe(left) === describe(right);
}

function describe({ label, type, name, number }: DefinedField): string {
  return `${label === "" ? "" : `${label} `}${type} ${name} = ${number}`;
}
