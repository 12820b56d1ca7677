import type { ExplanationStep } from "../../../gen/svc/iam/v1/administration_pb.ts";
import { printable } from "../run/print.ts";
import { objectText, relationshipText } from "./relationship-texts.ts";

/** The most relations of the summary of a denial. */
const MOST_NAMED = 8;
/** The most steps of a denial, which has all that was tried. */
const MOST_STEPS = 20;

/** A decision with its steps. */
export interface Explained {
  readonly allowed: boolean;
  readonly steps: readonly ExplanationStep[];
}

/**
 * The reason of a decision for people: the path that allows it; for a denial what the subject does
 * not hold, and then the first of the steps that were tried.
 */
export function explanationLines({ allowed, steps }: Explained): readonly string[] {
  const tree = stepLines(steps);
  if (allowed) return ["allowed", ...tree];
  const lines = ["not allowed", ...summaryOf(steps), ...tree.slice(0, MOST_STEPS)];
  const more = tree.length - MOST_STEPS;
  if (more <= 0) return lines;
  return [...lines, `(${more} more step${more === 1 ? "" : "s"}: --format json has all)`];
}

/** What was tried and is not held: the relations that decide, each once. */
function summaryOf(steps: readonly ExplanationStep[]): readonly string[] {
  const denied = steps.filter(({ allowed, kind }) => !allowed && kind === "relation");
  const names = new Set(denied.map((step) => `${objectText(step.resource)}#${step.permission}`));
  if (names.size === 0) return [];
  const shown = [...names].slice(0, MOST_NAMED).join(", ");
  const more = names.size - MOST_NAMED;
  return [printable(`not held: ${shown}${more > 0 ? ` and ${more} more` : ""}`)];
}

/** The steps of a decision as a tree, two spaces a level. */
function stepLines(steps: readonly ExplanationStep[]): readonly string[] {
  const depths: number[] = [];
  return steps.map((step, index) => {
    const depth = index === 0 ? 0 : (depths[step.parent] ?? 0) + 1;
    depths.push(depth);
    const { resource, permission, allowed, kind, relationship, notShown } = step;
    const by =
      notShown !== ""
        ? notShown
        : relationship === undefined
          ? kind
          : relationshipText(relationship);
    const answer = allowed ? "yes" : "no";
    return printable(
      `${"  ".repeat(depth)}${answer.padEnd(3)} ${objectText(resource)}#${permission}${by === "" ? "" : `: ${by}`}`,
    );
  });
}
