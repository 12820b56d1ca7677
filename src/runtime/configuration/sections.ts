import { resolve } from "node:path";
import type { ConfigPath } from "../../config/config-document.ts";
import { formatPath } from "../../config/describe-issue.ts";
import { didYouMean } from "../../diagnostics/nearest.ts";
import { isSecretKey } from "../logging/redaction/named-secrets.ts";
import type { ServiceConfigProblem } from "./configuration-error.ts";
import { describeSectionIssue } from "./describe-section-issue.ts";
import { knownKeys, unknownKeys } from "./known-keys.ts";
import { withNarrowestBounds } from "./narrowest-bounds.ts";
import { type SecretText, secretUrlRanges } from "./secret-values.ts";
import { serviceConfigSchema } from "./service-config.ts";
import type { ConfigurationSections, StandardIssue } from "./standard-schema.ts";

const NAME = /^[a-z][a-z0-9_]*$/;
const BUILT_IN: ReadonlySet<string> = new Set(Object.keys(serviceConfigSchema.shape));

/**
 * Refuses sections that no file could have: a mistake of the program, not of its configuration.
 *
 * @throws TypeError
 */
export function assertSections(sections: ConfigurationSections): void {
  for (const [name, schema] of Object.entries(sections)) {
    const refuse = (why: string) => new TypeError(`loadServiceConfig: sections.${name} ${why}`);
    if (BUILT_IN.has(name)) throw refuse("has the name of a built-in key: name it differently");
    if (!NAME.test(name)) {
      throw refuse("is not a name of lower-case letters, digits and _ that begins with a letter");
    }
    const { version, validate } = schema?.["~standard"] ?? {};
    if (version !== 1 || typeof validate !== "function") {
      throw refuse("is not a Standard Schema (https://standardschema.dev) of version 1");
    }
  }
}

/** A configuration without the sections that are not built in. */
export interface SplitConfiguration {
  readonly builtIn: unknown;
  /** The sections that are declared; those that the file does not have are absent. */
  readonly declared: ReadonlyMap<string, unknown>;
}

/** @param ignoresOthers - whether mappings with other keys are left out, and not refused as unknown keys */
export function splitSections(
  value: unknown,
  names: readonly string[],
  ignoresOthers: boolean,
): SplitConfiguration {
  const entries = Object.entries(value as object);
  const isOther = ([key, part]: [string, unknown]) =>
    ignoresOthers && NAME.test(key) && !BUILT_IN.has(key) && isMapping(part);
  const declared = new Map(entries.filter(([key]) => names.includes(key)));
  const others = entries.filter((entry) => !declared.has(entry[0]) && !isOther(entry));
  return { builtIn: Object.fromEntries(others), declared };
}

/** The values of sections, as their schemas return them, or their problems. */
export interface ReadSections {
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: readonly ServiceConfigProblem[];
  /** The text of each section, with files as absolute paths. */
  readonly texts: ReadonlyMap<string, unknown>;
}

/** What reading sections needs of their file. */
export interface SectionSource {
  /** The folder that paths of files are relative to. */
  readonly folder: string;
  /** Whether a variable of the file is not set, so that its text still has references. */
  readonly isUnset: boolean;
}

/**
 * Validates each declared section; one that the file does not have as undefined.
 *
 * @throws TypeError if a schema validates asynchronously
 */
export function readSections(
  sections: ConfigurationSections,
  declared: ReadonlyMap<string, unknown>,
  { folder, isUnset }: SectionSource,
): ReadSections {
  const values: Record<string, unknown> = {};
  const texts = new Map<string, unknown>();
  const problems: ServiceConfigProblem[] = [];
  for (const [name, schema] of Object.entries(sections)) {
    const given = declared.get(name);
    const unusable = [...unusableParts(given, [name])];
    problems.push(...unusable);
    if (unusable.length > 0) continue;
    const text = withFiles(given, folder);
    texts.set(name, text);
    const result = schema["~standard"].validate(text);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      throw new TypeError(
        `loadServiceConfig: sections.${name} validates asynchronously: use a schema that does not`,
      );
    }
    if (result.issues === undefined) {
      values[name] = result.value;
      continue;
    }
    problems.push(
      ...withNarrowestBounds(withoutSizesOfWrongTypes(result.issues))
        .flatMap((issue) => describeIssue(issue, { name, schema, text }))
        // Text whose variable is not set is not the value that the schema should see.
        .filter(({ path }) => !(isUnset && holdsReference(valueAt(text, path.slice(1))))),
    );
  }
  return { values, problems, texts };
}

/** The parts of a section that are not passed to its schema. */
function* unusableParts(
  value: unknown,
  path: ConfigPath,
  above: readonly object[] = [],
): Iterable<ServiceConfigProblem> {
  const refuse = (why: string) => ({ path, message: `${formatPath(path)} ${why}` });
  if (path.length === 1 && value !== undefined && !isMapping(value)) {
    const is = value === null ? "is empty; it must be" : "must be";
    const absent = value === null ? ", or absent" : "";
    yield refuse(`${is} a section with keys${absent}`);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  // An alias in its own anchor.
  if (above.includes(value)) return yield refuse("contains itself");
  for (const [key, item] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    if (key === "__proto__") yield { path: at, message: `${formatPath(at)} is not a key` };
    else yield* unusableParts(item, at, [...above, value]);
  }
}

/** A section with its files as absolute paths: they are relative to the configuration. */
function withFiles(value: unknown, folder: string, isFile = false): unknown {
  // Empty text is not a path: the schema refuses it, or treats it as absent.
  if (typeof value === "string") return isFile && value !== "" ? resolve(folder, value) : value;
  if (Array.isArray(value)) return value.map((item) => withFiles(item, folder, isFile));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withFiles(item, folder, namesFile(key))]),
  );
}

function namesFile(key: string): boolean {
  return key === "file" || key.endsWith("_file");
}

/** zod compares the length of a text with the bounds of the list that it should be, too. */
function withoutSizesOfWrongTypes(issues: readonly StandardIssue[]): readonly StandardIssue[] {
  const codeOf = (issue: StandardIssue) => (issue as { readonly code?: unknown }).code;
  const placeOf = ({ path = [] }: StandardIssue) => JSON.stringify(path.map(stepOf));
  const wrong = new Set(
    issues.filter((issue) => codeOf(issue) === "invalid_type").map((issue) => placeOf(issue)),
  );
  return issues.filter((issue) => {
    const code = codeOf(issue);
    return (code !== "too_big" && code !== "too_small") || !wrong.has(placeOf(issue));
  });
}

/** What a schema writes of a value that is not there. */
const ABSENT = /^(?:required$|invalid )/i;

/** A section that its schema refuses. */
interface RefusedSection {
  readonly name: string;
  readonly schema: unknown;
  readonly text: unknown;
}

function describeIssue(
  issue: StandardIssue,
  { name, schema, text }: RefusedSection,
): ServiceConfigProblem[] {
  const path = [name, ...(issue.path ?? []).map(stepOf)];
  const unknown = unknownKeys(issue, valueAt(text, path.slice(1)));
  if (unknown.length > 0) {
    const known = knownKeys(schema, path.slice(1));
    return unknown.map((key) => ({
      path: [...path, key],
      message: `${formatPath([...path, key])} is not a key${didYouMean(key, known)}`,
    }));
  }
  const value = valueAt(text, path.slice(1));
  const isAbsent = value === undefined && ABSENT.test(issue.message);
  const why = isAbsent ? "is missing" : withoutSecrets(describeSectionIssue(issue, value), text);
  return [{ path, message: `${formatPath(path)} ${why}` }];
}

/** A step of a path; of a library that does not keep to the standard, too. */
function stepOf(step: PropertyKey | { readonly key: PropertyKey } | null): string | number {
  const key = typeof step === "object" && step !== null ? step.key : step;
  return typeof key === "number" ? key : String(key);
}

/** Messages of some libraries quote the value. */
function withoutSecrets(message: string, text: unknown): string {
  const hasSecret = [...secretsOfSection(text)].some(({ value, ranges }) =>
    ranges.some(([start, end]) => {
      const secret = value.slice(start, end);
      const quoted = JSON.stringify(secret).slice(1, -1);
      return mentions(message, secret) || mentions(message, quoted);
    }),
  );
  return hasSecret ? "is not valid" : message;
}

/** Whether a text has another one, and not only as a part of a word. */
function mentions(text: string, part: string): boolean {
  for (let at = text.indexOf(part); part !== "" && at >= 0; at = text.indexOf(part, at + 1)) {
    const around = `${text.charAt(at - 1)} ${text.charAt(at + part.length)}`;
    if (!/[A-Za-z0-9]/.test(around)) return true;
  }
  return false;
}

/** A text of a section that is a secret, or holds one. */
export interface SectionSecret extends SecretText {
  readonly value: string;
  /** Whether it is text, and not a number, which is more likely a length of time. */
  readonly isText: boolean;
}

/**
 * The secrets of a section: by the names of their keys, as in the log, and in URLs. The path of a
 * file with a secret is not a path.
 */
export function* secretsOfSection(
  value: unknown,
  path: ConfigPath = [],
  key = "",
): Iterable<SectionSecret> {
  if (typeof value === "object" && value !== null) {
    for (const [step, item] of Object.entries(value)) {
      const isItem = Array.isArray(value);
      yield* secretsOfSection(item, [...path, isItem ? Number(step) : step], isItem ? key : step);
    }
    return;
  }
  if (value === undefined || value === null || typeof value === "boolean") return;
  const text = String(value);
  const ranges =
    isSecretKey(key) && !namesFile(key)
      ? ([[0, text.length]] as const)
      : secretUrlRanges(text, isSecretKey);
  if (ranges.length > 0) yield { path, value: text, ranges, isText: typeof value === "string" };
}

function holdsReference(value: unknown): boolean {
  if (typeof value === "string") return value.includes("${");
  return typeof value === "object" && value !== null && Object.values(value).some(holdsReference);
}

function valueAt(value: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>(
    (node, step) =>
      typeof node === "object" && node !== null && Object.hasOwn(node, step)
        ? (node as Record<string | number, unknown>)[step]
        : undefined,
    value,
  );
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
