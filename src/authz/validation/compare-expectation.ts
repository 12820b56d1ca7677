import { didYouMean } from "../../diagnostics/nearest.ts";
import { formatMember, formatSubjectReference } from "../../model/relationship-text.ts";
import type { Model, Position } from "../../model/schema/model.ts";
import type { Expectation, ExpectedSubject } from "../../model/validation/validation-file.ts";
import type { Expander } from "./expand.ts";
import type { MemberSubject } from "./subject-set.ts";

/** A failed expectation of a validation file. */
export interface Failure extends Position {
  readonly kind: "schema" | "relationship" | "assertTrue" | "assertFalse" | "validation";
  /** What the file expects. */
  readonly assertion: string;
  /** The actual result, and why; further lines explain a decision. */
  readonly message: string;
}

/** The result of a validation file. */
export interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** What was not run, with the reason. */
  readonly notRun: readonly (Position & { readonly assertion: string; readonly reason: string })[];
  /** The permissions and relations that assertions and expected relations asked for, as `type#name`. */
  readonly exercised: ReadonlySet<string>;
}

/**
 * Compares the subjects that a permission expands to with those that a file expects. Each expected
 * line counts, and one more for the list as a whole, which must be complete.
 */
export function compareExpectation(
  model: Model,
  expander: Expander,
  expectation: Expectation,
): { readonly passed: number; readonly failures: readonly Failure[] } {
  const { text, position, subjects } = expectation;
  const fail = ({ text, position }: Pick<Expectation, "text" | "position">, message: string) =>
    failures.push({ ...position, kind: "validation", assertion: text, message });
  const failures: Failure[] = [];
  const unknown = unknownMember(model, expectation);
  if (unknown !== undefined) {
    fail({ text, position }, unknown);
    return { passed: 0, failures };
  }
  const set = expander.expand(expectation);
  const listed = new Set<string>();
  let passed = 0;
  for (const expected of subjects) {
    if (expected.subject !== undefined) listed.add(formatSubjectReference(expected.subject));
    const found = expected.subject && set.get(expected.subject);
    const message = whyDifferent(text, expected, found);
    if (message === undefined) passed++;
    else fail(expected, message);
  }
  const missing = set
    .members()
    .filter(({ subject }) => !listed.has(formatSubjectReference(subject)));
  for (const member of missing) {
    fail({ text, position }, `${describe(member)} is found but not listed; add it`);
  }
  return { passed: missing.length === 0 ? passed + 1 : passed, failures };
}

function unknownMember(model: Model, { resource, permission }: Expectation): string | undefined {
  const definition = model.definitions.get(resource.type);
  if (definition === undefined) {
    const near = didYouMean(resource.type, model.definitions.keys());
    return `the model has no type ${resource.type}${near}`;
  }
  const names = [...definition.relations.keys(), ...definition.permissions.keys()];
  if (names.includes(permission)) return undefined;
  return `${resource.type} has no relation or permission ${permission}${didYouMean(permission, names)}`;
}

function whyDifferent(
  member: string,
  { subject, caveated, exceptions, paths }: ExpectedSubject,
  found: MemberSubject | undefined,
): string | undefined {
  if (subject === undefined) return "the line names no subject; write it in brackets, as [type:id]";
  const name = formatSubjectReference(subject);
  if (caveated) return "subjects with caveats are not supported: this engine has no caveats";
  if (found === undefined) return `${name} is not found in ${member}`;
  const expected = paths.map(formatMember).sort();
  const computed = [...found.paths].sort();
  if (expected.join() !== computed.join()) {
    return `${name} is found through ${pathText(computed)}, expected ${pathText(expected)}`;
  }
  const expectedExceptions = exceptions.map(formatSubjectReference).sort();
  const excluded = found.excluded.map(formatSubjectReference).sort();
  if (expectedExceptions.join() !== excluded.join()) {
    return `${name} leaves out ${listText(excluded)}, expected ${listText(expectedExceptions)}`;
  }
  return undefined;
}

/** A found subject as the file would write it. */
function describe({ subject, paths, excluded }: MemberSubject): string {
  const name = formatSubjectReference(subject);
  const rest = excluded.length === 0 ? "" : ` - ${listText(excluded.map(formatSubjectReference))}`;
  return `"[${name}${rest}] is ${pathText([...paths].sort())}"`;
}

function pathText(paths: readonly string[]): string {
  return paths.length === 0 ? "nothing" : paths.map((path) => `<${path}>`).join("/");
}

function listText(names: readonly string[]): string {
  return names.length === 0 ? "nobody" : `{${names.join(", ")}}`;
}
