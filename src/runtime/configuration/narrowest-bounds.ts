import type { StandardIssue } from "./standard-schema.ts";

/**
 * The issues of values without those of wider bounds: zod bounds each whole number by what a number holds exactly, too,
 * and a value outside of it has an issue for both.
 */
export function withNarrowestBounds<Issue extends Pick<StandardIssue, "path">>(
  issues: readonly Issue[],
): Issue[] {
  const narrowest = new Map<string, Issue>();
  for (const issue of issues) {
    const place = placeOf(issue);
    const known = place === undefined ? undefined : narrowest.get(place);
    if (place !== undefined && (known === undefined || boundOf(issue) < boundOf(known))) {
      narrowest.set(place, issue);
    }
  }
  return issues.filter((issue) => {
    const place = placeOf(issue);
    return place === undefined || narrowest.get(place) === issue;
  });
}

/** An issue of zod whose value is beyond a bound. */
interface BoundIssue {
  readonly code?: unknown;
  readonly maximum?: unknown;
  readonly minimum?: unknown;
}

/** The side of the value that an issue bounds; undefined for other issues. */
function placeOf(issue: Pick<StandardIssue, "path">): string | undefined {
  const { code } = issue as BoundIssue;
  if (code !== "too_big" && code !== "too_small") return undefined;
  const steps = (issue.path ?? []).map((step) =>
    String(typeof step === "object" && step !== null ? step.key : step),
  );
  return JSON.stringify([code, ...steps]);
}

/** The smaller, the narrower. */
function boundOf(issue: unknown): number {
  const { code, maximum, minimum } = issue as BoundIssue;
  return code === "too_big" ? Number(maximum) : -Number(minimum);
}
