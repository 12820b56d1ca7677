import type { FileOutline } from "../../descriptors/file-outline.ts";
import {
  type DefinedEnum,
  type DefinedExtension,
  type DefinedField,
  type DefinedMessage,
  readDefinedTypes,
  scopeOf,
} from "./definition.ts";
import { declaredExtensions, EXTENDEE, readFrom } from "./find-definition.ts";
import { type GenuineOption, HTTP_OPTION, METHOD_OPTIONS } from "./genuine-options.ts";
import { type DefinitionProblem, enumerate, quote, verifyAnnotation } from "./verify-annotation.ts";

/** The problems of the definitions that the options of a file were compiled with. */
export interface InputProblems {
  /** Of the annotation. */
  readonly policy?: DefinitionProblem | undefined;
  /** Of `google.api.http`. */
  readonly http?: DefinitionProblem | undefined;
  /** Of `google.protobuf.MethodOptions`. */
  readonly options?: DefinitionProblem | undefined;
}

/**
 * Verifies the definitions in each input, with which the options of that input were compiled.
 *
 * @returns the problems, by the name of each file with services
 */
export function verifyDefinitions(
  inputs: readonly (readonly FileOutline[])[],
): ReadonlyMap<string, InputProblems> {
  const problems = new Map<string, InputProblems>();
  for (const files of inputs) {
    const targets = files.filter(({ target, services }) => target && services.length > 0);
    if (targets.length === 0) continue;
    const extensions = declaredExtensions(files);
    const policy = verifyAnnotation(files, extensions);
    const http = verifyOption(HTTP_OPTION, files, extensions);
    const options = verifyOption(METHOD_OPTIONS, files, extensions);
    if (policy === undefined && http === undefined && options === undefined) continue;
    for (const { name } of targets) {
      // A file that is in two inputs gets the problems of both.
      const known = problems.get(name);
      problems.set(name, {
        policy: policy ?? known?.policy,
        http: http ?? known?.http,
        options: options ?? known?.options,
      });
    }
  }
  return problems;
}

/**
 * Verifies that an input defines a third-party option, such as `google.api.http`, as its publisher
 * does. Otherwise its bytes would be read with another meaning than they were written with.
 *
 * Versions may lack or add fields: that does not change the meaning of the fields that are read.
 *
 * @param files - all files of one input, also those that are imported only
 * @param extensions - the extensions of all options of RPCs that they declare
 */
function verifyOption(
  option: GenuineOption,
  files: readonly FileOutline[],
  extensions: readonly DefinedExtension[],
): DefinitionProblem | undefined {
  const { extension } = option;
  const declared = declaredTypes(option, files);
  const differences = [...differencesOfTypes(option, declared)];
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
  const isRenumbered = found.length > 0 && !found.some(hasItsNumber);
  for (const { extendee, field, file } of found) {
    if (extendee === EXTENDEE && isSame(field, extension)) continue;
    differences.push(
      `${quote(file)} has ${quote(describe(field))} of ${quote(extendee)} instead of ${describe(extension)}`,
    );
  }
  const names = new Set(declared.flatMap(({ messages }) => messages.map(({ name }) => name)));
  const isWhole = found.length > 0 && [...option.messages.keys()].every((name) => names.has(name));
  if (differences.length > 0 || isWhole) return problemOf(differences, isRenumbered);
  return {
    message: `the input does not contain the definition of the option ${extension.number}, so its meaning is unknown; build the input with its imports`,
    isRenumbered,
  };
}

function problemOf(
  differences: readonly string[],
  isRenumbered: boolean,
): DefinitionProblem | undefined {
  if (differences.length === 0) return undefined;
  return {
    message: `the input defines it differently from its publisher: ${enumerate(differences)}; use the published file`,
    isRenumbered,
  };
}

/** The messages and enums that a file declares, those of an option among them. */
interface DeclaredTypes {
  readonly file: string;
  readonly messages: readonly DefinedMessage[];
  readonly enums: readonly DefinedEnum[];
}

function declaredTypes(option: GenuineOption, files: readonly FileOutline[]): DeclaredTypes[] {
  return files.flatMap((file) =>
    readFrom(file, () =>
      mayDeclare(option, file) ? [{ file: file.name, ...readDefinedTypes(file) }] : [],
    ),
  );
}

/** A message can replace a part of the package: `message api` in `google` yields the same full names. */
function mayDeclare(option: GenuineOption, file: FileOutline): boolean {
  if (file.package === option.package) return true;
  const scope = scopeOf(file);
  if (!option.package.startsWith(scope)) return false;
  const [next] = option.package.slice(scope.length).split(".", 1);
  return file.messages.some(({ name }) => name === next);
}

function* differencesOfTypes(
  option: GenuineOption,
  declared: readonly DeclaredTypes[],
): Iterable<string> {
  for (const { file, messages, enums } of declared) {
    for (const { name, fields } of messages) {
      const genuine = option.messages.get(name) ?? [];
      for (const field of fields) {
        const own = genuine.find((one) => one.number === field.number || one.name === field.name);
        if (own === undefined || isSame(field, own)) continue;
        yield `${name} of ${quote(file)} has ${quote(describe(field))} instead of ${describe(own)}`;
      }
    }
    for (const { name, values } of enums) {
      const genuine = option.enums.get(name) ?? [];
      for (const [value, number] of values) {
        const own = genuine.find((one) => one[0] === value || one[1] === number);
        if (own === undefined || (own[0] === value && own[1] === number)) continue;
        yield `${name} of ${quote(file)} has ${quote(value)} = ${number} instead of ${own[0]} = ${own[1]}`;
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
