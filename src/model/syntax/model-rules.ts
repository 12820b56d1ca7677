/**
 * The diagnostics of a model: the message of each rule, with its parameters.
 *
 * A parameter named `hint` is empty or begins with `; `.
 */
export const MODEL_RULES = {
  MODEL_SYNTAX: (expected: string, found: string, hint = "") =>
    `expected ${expected}, found ${found}${hint}`,
  MODEL_CHARACTER_UNKNOWN: (character: string) => `unexpected character ${character}; remove it`,
  MODEL_COMMENT_UNTERMINATED: (close: string) => `the comment does not end; close it with ${close}`,
  MODEL_STRING_UNTERMINATED: (close: string) => `the string does not end; close it with ${close}`,
  MODEL_NESTING_DEPTH: (limit: number) =>
    `the expression nests deeper than ${limit} levels; move its parts into separate permissions`,
  MODEL_TOO_MANY_ERRORS: (limit: number) =>
    `more than ${limit} errors; fix those listed to see the others`,

  MODEL_USE_UNKNOWN: (name: string, known: readonly string[], hint: string) =>
    `there is no feature ${quote(name)}; the features are ${known.join(", ")}${hint}`,
  MODEL_USE_LATE: () => "`use` must come before the first definition or caveat; move it up",
  MODEL_IMPORT_UNSUPPORTED: () =>
    "`import` is not supported; a model is one file, so put the definitions here",
  MODEL_NAME_INVALID: (what: string, name: string) =>
    `${quote(name)} is not a valid name of a ${what}; use 3 to 64 characters of a-z, 0-9 and "_", starting with a letter and not ending with "_"${
      what === "definition"
        ? ', with optional prefixes of the same form before "/", at most 128 characters in total'
        : ""
    }`,

  MODEL_DEFINITION_DUPLICATE: (what: string, name: string, line: number) =>
    `the name of the ${what} ${quote(name)} is already used in line ${line}; rename one of the two`,
  MODEL_RELATION_DUPLICATE: (what: string, name: string, type: string, line: number) =>
    `the name of the ${what} ${quote(name)} of ${type} is already used in line ${line}; rename one of the two`,
  MODEL_PARAMETER_DUPLICATE: (name: string, caveat: string) =>
    `the caveat ${quote(caveat)} has two parameters ${quote(name)}; rename one of the two`,
  MODEL_SUBJECT_DUPLICATE: (subject: string) =>
    `${subject} is listed twice in this relation; remove one of the two`,

  MODEL_TYPE_UNKNOWN: (type: string, hint: string) =>
    `there is no definition ${quote(type)}${hint}`,
  MODEL_RELATION_UNKNOWN: (type: string, name: string, hint: string) =>
    `${type} has no relation or permission ${quote(name)}${hint}`,
  MODEL_CAVEAT_UNKNOWN: (name: string, hint: string) => `there is no caveat ${quote(name)}${hint}`,
  MODEL_PARTIAL_UNKNOWN: (name: string, hint: string) =>
    `there is no partial ${quote(name)}${hint}`,
  MODEL_PARTIAL_CYCLE: (path: readonly string[]) =>
    `the partial includes itself: ${path.join(" > ")}; remove one of these references`,
  MODEL_PARTIAL_REPEATED: (name: string, type: string) =>
    `${type} already includes the partial ${quote(name)}; remove this reference`,
  MODEL_CAVEAT_TYPE_UNKNOWN: (type: string, hint: string) =>
    `${quote(type)} is not a valid type of a caveat parameter${hint}`,
  MODEL_CAVEAT_PARAMETER_UNUSED: (name: string, caveat: string) =>
    `the caveat ${quote(caveat)} does not use its parameter ${quote(name)}; use it or remove it`,

  MODEL_WILDCARD_USERSET: (userset: string, relation: string, wildcard: string) =>
    `${userset} cannot be a subject, because ${relation} accepts ${wildcard}; accept ${wildcard} here, or remove it there`,
  MODEL_ARROW_LEFT: (name: string, reason: string, hint: string) =>
    `${quote(name)} is not allowed on the left of an arrow: ${reason}${hint}`,
  MODEL_ARROW_NESTED: () =>
    "an arrow cannot follow an arrow; move the second part into a permission on the related type",
  MODEL_ARROW_FUNCTION: (name: string, hint: string) =>
    `there is no arrow function ${quote(name)}; the functions are any and all${hint}`,
  MODEL_ARROW_DANGLING: (relation: string, types: readonly string[], name: string, hint: string) =>
    `${quote(relation)} leads to ${types.join(", ")}, which ${types.length === 1 ? "has" : "have"} no relation or permission ${quote(name)}${hint}`,
  MODEL_PERMISSION_CYCLE: (path: readonly string[]) =>
    `the permission refers to itself: ${path.join(" > ")}; remove one of these references`,
  MODEL_EXCLUSION_RECURSION: (path: readonly string[]) =>
    `the subtracted side depends on the permission itself: ${path.join(" > ")}; subtract an expression that does not depend on it`,
  MODEL_SUBJECT_TYPES_INCOMPLETE: (permission: string, types: readonly string[]) =>
    `${quote(permission)} can also be held by ${types.join(", ")}; add it to the declared types`,
};

/** The identifier of a rule about the model, such as `MODEL_TYPE_UNKNOWN`. */
export type ModelRule = keyof typeof MODEL_RULES;

const QUOTED_LENGTH = 80;

/** A name from the text in quotes, shortened if it is very long. */
export function quote(name: string): string {
  return name.length <= QUOTED_LENGTH ? `"${name}"` : `"${name.slice(0, QUOTED_LENGTH)}…"`;
}
