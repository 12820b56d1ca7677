import { ANNOTATION } from "../../../gen/annotation.ts";
import type { FileOutline } from "../../descriptors/file-outline.ts";
import { POLICY_EXTENSION } from "../../policy.ts";
import type { AnnotationDefinition, DefinedExtension, DefinedField } from "./definition.ts";
import { findDefinition, POLICY_NAME } from "./find-definition.ts";

/** Why the definition that the options of an input were compiled with cannot be trusted. */
export interface DefinitionProblem {
  /** The problem and its fix, as the end of a sentence. */
  readonly message: string;
  /** Whether it also affects RPCs without an option of the annotation's number. */
  readonly isRenumbered: boolean;
}

/**
 * Verifies that an input defines the annotation as this version does. An option is
 * bytes, and only the definition that its author compiled with says what they mean.
 *
 * @param files - all files of one input, also those that are imported only
 * @param declared - the extensions that they declare
 * @returns the problem; undefined if the definition is that of this version
 */
export function verifyAnnotation(
  files: Iterable<FileOutline>,
  declared: readonly DefinedExtension[],
): DefinitionProblem | undefined {
  const found = findDefinition(files, declared);
  const { extensions } = found;
  const [first] = extensions;
  if (first === undefined) {
    return {
      message: `the input does not contain the definition of the option ${POLICY_EXTENSION}, so its meaning is unknown; build the input with its imports`,
      isRenumbered: false,
    };
  }
  const other = extensions.find(({ field }) => field.name !== POLICY_NAME);
  if (other !== undefined) {
    return {
      message: `the option ${POLICY_EXTENSION} is ${quote(other.field.name)} of ${quote(other.file)}, not ${POLICY_NAME}; give that extension another number`,
      isRenumbered: false,
    };
  }
  const differences = differencesOf(found);
  if (differences.length === 0) return undefined;
  const names = [...new Set(extensions.map(({ file }) => quote(file)))].sort().join(" and ");
  return {
    message: `${POLICY_NAME} in ${names} differs from that of svc-access: ${enumerate(differences)}; run npx svc-access init --update, or replace the file with the one in svc-access/proto`,
    isRenumbered: !extensions.some(({ field }) => field.number === POLICY_EXTENSION),
  };
}

/** The maximum number of differences in a message. */
const MAX_NAMED = 3;

/** The first differences, and how many more there are. */
export function enumerate(differences: readonly string[]): string {
  const named = differences.slice(0, MAX_NAMED).join(", ");
  const more = differences.length - MAX_NAMED;
  return more > 0 ? `${named} and ${more} more` : named;
}

/** The differences between a definition and that of this version, in the order of ours. */
function differencesOf(found: AnnotationDefinition): string[] {
  const theirs = factsOf(found);
  const ours = factsOf(ANNOTATION);
  const differences: string[] = [];
  for (const [subject, [fact]] of ours) {
    const [other, ...others] = theirs.get(subject) ?? [];
    if (other === undefined) differences.push(`${subject} is missing`);
    else if (other !== fact) differences.push(`${subject} is ${quote(other)} instead of ${fact}`);
    else if (others.length > 0) differences.push(`${subject} is declared more than once`);
  }
  // An element that the annotation does not use, such as another message of the package, is harmless.
  const owners = new Set<string>(
    [...ANNOTATION.messages, ...ANNOTATION.enums].map(({ name }) => name),
  );
  for (const subject of theirs.keys()) {
    const owner = subject.slice(0, subject.lastIndexOf("."));
    if (!ours.has(subject) && owners.has(owner)) differences.push(`${quote(subject)} is added`);
  }
  return differences;
}

/** A definition as facts, by the full name of the element. */
function factsOf({ extensions, messages, enums }: AnnotationDefinition): Map<string, string[]> {
  const facts = new Map<string, string[]>();
  const add = (subject: string, fact: string) => {
    const known = facts.get(subject);
    if (known === undefined) facts.set(subject, [fact]);
    else known.push(fact);
  };
  for (const { extendee, field } of extensions) {
    add(field.name, `${formatField(field)} of ${extendee}`);
  }
  for (const { name, syntax, fields, extensionRanges } of messages) {
    add(name, `${syntax} message${extensionRanges === 0 ? "" : " with extensions"}`);
    for (const field of fields) add(`${name}.${field.name}`, formatField(field));
  }
  for (const { name, syntax, values } of enums) {
    add(name, `${syntax} enum`);
    for (const [value, number] of values) add(`${name}.${value}`, `${number}`);
  }
  return facts;
}

function formatField({ label, type, number }: DefinedField): string {
  return `${label === "" ? "" : `${label} `}${type} = ${number}`;
}

/** A name from the input for a message; a forged one may have any length. */
export function quote(name: string): string {
  const text = name.length > 200 ? `${name.slice(0, 200)}…` : name;
  return /^[\w.=/ -]+$/.test(text) ? text : JSON.stringify(text);
}
