import { didYouMean } from "../../diagnostics/nearest.ts";
import { parseMember, parseRelationship } from "../relationship-text.ts";
import type { Position } from "../schema/model.ts";
import { parseExpectedSubject } from "./expected-subject.ts";
import { readRelationships } from "./read-relationships.ts";
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
import { quote, whyNoObject, whyNoRelationship } from "./why-no-relationship.ts";

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
