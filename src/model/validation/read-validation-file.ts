import { didYouMean } from "../../diagnostics/nearest.ts";
import type { SubjectReference } from "../relationship.ts";
import {
  type ObjectMember,
  parseMember,
  parseRelationship,
  parseSubject,
} from "../relationship-text.ts";
import type { Position } from "../schema/model.ts";
import { quote, readRelationships, whyNoObject, whyNoRelationship } from "./read-relationships.ts";
import { type Item, readYaml, type YamlText } from "./read-yaml.ts";
import { malformed } from "./text-positions.ts";
import {
  ASSERTION_KINDS,
  type Assertion,
  type Expectation,
  type ExpectedSubject,
  type PlacedRelationship,
  type SchemaSource,
  type ValidationFile,
} from "./validation-file.ts";

const KEYS = ["schema", "schemaFile", "relationships", "assertions", "validation"];
const LEGACY = new Map([
  ["namespace_configs", "schema"],
  ["validation_tuples", "relationships"],
]);

/**
 * Reads the text of a validation file.
 *
 * @throws MalformedFileError if it is not a validation file
 */
export function readValidationFile(text: string, file: string): ValidationFile {
  const yaml = readYaml(text, file);
  for (const { key, position } of yaml.entries) {
    const instead = LEGACY.get(key);
    if (instead === undefined) continue;
    throw malformed(file, position, `${key} is an obsolete key; write ${instead}`);
  }
  const assertions = yaml.get("assertions")?.entries() ?? [];
  return {
    file,
    schema: readSchema(yaml),
    relationships: relationshipsOf(yaml),
    assertions: assertions.flatMap(({ key, value }) => readAssertions(file, key, value)),
    expectations: (yaml.get("validation")?.entries() ?? []).map((entry) =>
      readExpectation(file, entry.key, entry.position, entry.value),
    ),
    notes: [
      ...yaml.notes,
      ...unknownKeys(file, yaml.entries, KEYS),
      ...unknownKeys(file, assertions, ASSERTION_KINDS),
    ],
  };
}

/**
 * Reads only the relationships of a validation file.
 *
 * @throws MalformedFileError if it is not a validation file
 */
export function readYamlRelationships(text: string, file: string): PlacedRelationship[] {
  return relationshipsOf(readYaml(text, file));
}

function relationshipsOf(yaml: YamlText): PlacedRelationship[] {
  const relationships = yaml.get("relationships");
  if (relationships === undefined) return [];
  const { value, placeOf } = relationships.text();
  return readRelationships(value, yaml.file, placeOf);
}

function readSchema(yaml: YamlText): SchemaSource {
  // An empty text counts as absent.
  const [schema, schemaFile] = ["schema", "schemaFile"].map((key) => {
    const item = yaml.get(key);
    return item?.text().value.trim() === "" ? undefined : item;
  });
  if (schema !== undefined && schemaFile !== undefined) {
    const message = "the file has schema and schemaFile; remove one of them";
    throw malformed(yaml.file, schemaFile.position, message);
  }
  if (schemaFile !== undefined) {
    const { position } = schemaFile;
    return { kind: "file", path: schemaFile.text().value, position };
  }
  if (schema === undefined) {
    const message = "the file has no schema; add schema: or schemaFile:";
    throw malformed(yaml.file, { line: 1, column: 1 }, message);
  }
  const { value, placeOf } = schema.text();
  return { kind: "text", text: value, placeOf };
}

function readAssertions(file: string, key: string, list: Item | undefined): Assertion[] {
  const kind = ASSERTION_KINDS.find((kind) => kind === key);
  if (kind === undefined || list === undefined) return [];
  return list.items().map((item): Assertion => {
    const text = item.text().value.trim();
    const { position } = item;
    // The context of a caveat may follow. Without caveats it has no effect, but it must be JSON.
    const [check = "", context] = splitOnce(text, " with ");
    const parsed = parseRelationship(check.trim());
    if (parsed === undefined) throw malformed(file, position, whyNoRelationship(check.trim()));
    if (context !== undefined && !isJsonObject(context)) {
      const message = `${quote(context)} is not a JSON object; write with {"name": value}`;
      throw malformed(file, position, message);
    }
    return { ...parsed, kind, text, position };
  });
}

function readExpectation(
  file: string,
  key: string,
  position: Position,
  list: Item | undefined,
): Expectation {
  const member = parseMember(key);
  if (member === undefined) {
    const why = whyNoObject(key);
    const message = `${quote(key)} is not a permission of an object${why === undefined ? "" : `: ${why}`}; write type:id#permission`;
    throw malformed(file, position, message);
  }
  const subjects = (list?.items() ?? []).map((item): ExpectedSubject => {
    const subject = parseExpectedSubject(item.text().value, item.position);
    if (typeof subject === "string") throw malformed(file, item.position, subject);
    return subject;
  });
  return { ...member, text: key, position, subjects };
}

function unknownKeys(
  file: string,
  entries: readonly { readonly key: string; readonly position: Position }[],
  known: readonly string[],
): string[] {
  return entries
    .filter(({ key }) => !known.includes(key) && !LEGACY.has(key))
    .map(({ key, position: { line, column } }) => {
      return `${file}:${line}:${column}: ${key} is not a known key${didYouMean(key, known)}`;
    });
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

const FORM = 'write "[type:id] is <type:id#relation>"';
const SUBJECT_PART = /\[(.*)\]/s;
const SUBJECT_WITH_TRAITS = /^([^\]\s]+?)(\[\.\.\.\])?(?:\s+-\s+\{([^}]+)\})?$/;

/**
 * Parses a line of an expected relation: `[user:ann] is <doc:a#viewer>/<doc:a#editor>`,
 * `[group:eng#member] is …`, `[user:* - {user:ann, user:bob}] is …`.
 *
 * @returns the expected subject, or a problem if the line has another form
 */
function parseExpectedSubject(text: string, position: Position): ExpectedSubject | string {
  const paths: ObjectMember[] = [];
  for (const [, path = ""] of text.matchAll(/<([^>]+)>/g)) {
    const member = parseMember(path);
    if (member === undefined) return wrong(text, path, "is not a type:id#relation");
    paths.push(member);
  }
  const inner = SUBJECT_PART.exec(text)?.[1];
  if (inner === undefined) return { text, position, caveated: false, exceptions: [], paths };
  const match = SUBJECT_WITH_TRAITS.exec(inner.trim());
  if (match === null) return wrong(text, inner, "is not a subject");
  const [, name = "", caveat, excepted] = match;
  const subject = parseSubject(name);
  if (subject === undefined) return wrong(text, name, "is not a subject");
  const exceptions: SubjectReference[] = [];
  for (const part of excepted?.split(",") ?? []) {
    const exception = parseSubject(part.trim().replace(/\[\.\.\.\]$/, ""));
    if (exception === undefined) return wrong(text, part.trim(), "is not a subject");
    exceptions.push(exception);
  }
  return { text, position, subject, caveated: caveat !== undefined, exceptions, paths };
}

function wrong(text: string, part: string, what: string): string {
  return `${quote(text)} is not an expected relation: ${whyNoObject(part) ?? `${quote(part)} ${what}`}; ${FORM}`;
}
