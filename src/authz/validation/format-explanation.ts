import type { SubjectReference } from "../../model/relationship.ts";
import {
  formatMember,
  formatRelationship,
  formatSubjectReference,
} from "../../model/relationship-text.ts";
import type { Explanation } from "../engine/requests.ts";

/** The most lines of an explanation; a denial shows everything that was tried. */
const MAX_LINES = 60;

/**
 * The reason of a decision as text: for an allowed check the path to the relationship, for a denied
 * check what was tried.
 *
 * @example
 * ```text
 * doc:readme#view: allowed, by one of
 *   doc:readme#editor: allowed by doc:readme#editor@user:ann
 * ```
 */
export function formatExplanation(
  explanation: Explanation,
  subject: SubjectReference,
): readonly string[] {
  const lines: string[] = [];
  write(explanation, formatSubjectReference(subject), undefined, "", lines);
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `(${lines.length - MAX_LINES} more lines)`];
}

function write(
  step: Explanation,
  subject: string,
  above: string | undefined,
  indent: string,
  lines: string[],
): void {
  const member = formatMember(step);
  // The parts of an expression have the name of its permission.
  const part = step.kind === "arrow" ? "an arrow of" : "a part of";
  const name = member === above && step.kind !== "cycle" ? `${part} ${member}` : member;
  lines.push(`${indent}${name}: ${decisionOf(step, subject)}`);
  for (const child of step.children) write(child, subject, member, `${indent}  `, lines);
}

function decisionOf({ kind, allowed, relationship, children }: Explanation, subject: string) {
  const decision = allowed ? "allowed" : "denied";
  switch (kind) {
    case "relation":
      if (relationship !== undefined) return `${decision} by ${formatRelationship(relationship)}`;
      if (allowed) return "allowed";
      return children.length === 0
        ? `denied, no relationship names ${subject}`
        : `denied, no relationship names ${subject}, and none of its usersets holds it`;
    case "union":
      return allowed ? "allowed, by" : "denied, none of these allows";
    case "intersection":
      return allowed ? "allowed, each of these allows" : "denied, not each of these allows";
    case "exclusion":
      return allowed ? "allowed, by the first and not by the rest" : "denied, by the difference of";
    case "arrow":
      if (children.length === 0) return `${decision}, it leads to no object that could grant it`;
      return allowed ? "allowed, through" : "denied, through none of";
    case "self":
      return allowed ? `allowed, it is ${subject} itself` : `denied, it is not ${subject} itself`;
    case "nil":
      return "denied, nobody holds it";
    case "cycle":
      return "denied, this is being decided above";
  }
}
