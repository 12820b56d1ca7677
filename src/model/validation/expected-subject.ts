import type { SubjectReference } from "../relationship.ts";
import { type ObjectMember, parseMember, parseSubject } from "../relationship-text.ts";
import type { Position } from "../schema/model.ts";
import type { ExpectedSubject } from "./validation-file.ts";
import { quote, whyNoObject } from "./why-no-relationship.ts";

const FORM = 'write "[type:id] is <type:id#relation>"';
const SUBJECT_PART = /\[(.*)\]/s;
const SUBJECT_WITH_TRAITS = /^([^\]\s]+?)(\[\.\.\.\])?(?:\s+-\s+\{([^}]+)\})?$/;

/**
 * Parses a line of an expected relation: `[user:ann] is <doc:a#viewer>/<doc:a#editor>`,
 * `[group:eng#member] is …`, `[user:* - {user:ann, user:bob}] is …`.
 *
 * @returns the expected subject, or a problem if the line has another form
 */
export function parseExpectedSubject(text: string, position: Position): ExpectedSubject | string {
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
