import type * as z from "zod/mini";
import type { ConfigPath } from "../../config/config-document.ts";
import { formatPath } from "../../config/describe-issue.ts";
import { describeValue } from "../../config/describe-value.ts";
import { didYouMean } from "../../diagnostics/nearest.ts";
import type { ServiceConfigProblem } from "./configuration-error.ts";
import { knownKeys } from "./known-keys.ts";
import { withNarrowestBounds } from "./narrowest-bounds.ts";
import { serviceConfigSchema } from "./service-config.ts";

const MERGED = ": YAML 1.2 has no merge keys; write the keys out";

/**
 * Describes an issue of the schema for a user, without values, which may be secrets.
 *
 * @param sections the keys of the service's own sections
 */
export function describeProblem(
  issue: z.core.$ZodIssue,
  sections: readonly string[],
): ServiceConfigProblem[] {
  const path = issue.path.map((step) => (typeof step === "symbol" ? step.toString() : step));
  if (issue.code === "unrecognized_keys") {
    const builtIn = knownKeys(serviceConfigSchema, path);
    const known = path.length === 0 ? [...builtIn, ...sections] : builtIn;
    return issue.keys.map((key) => {
      const hint =
        key === "<<" ? MERGED : didYouMean(key, known) || `; known keys are ${known.join(", ")}`;
      return { path: [...path, key], message: `${formatPath([...path, key])} is not a key${hint}` };
    });
  }
  if (issue.code === "invalid_union") return describeUnion(issue, path);
  const isMissing = issue.input === undefined && path.length > 0;
  const why = isMissing ? "is missing" : describeValue(issue);
  return [{ path, message: `${formatPath(path)} ${why}` }];
}

/** The problem by the intended alternative: the one of the value's own type. */
function describeUnion(
  issue: z.core.$ZodIssueInvalidUnion,
  path: ConfigPath,
): ServiceConfigProblem[] {
  const meant = issue.errors.find(
    (issues) => !issues.some(({ code, path: at }) => code === "invalid_type" && at.length === 0),
  );
  if (meant === undefined) {
    const quote = typeof issue.input === "number" ? '; write it in quotes, as in "${VAR}"' : "";
    return [{ path, message: `${formatPath(path)} must be text or a list${quote}` }];
  }
  return withNarrowestBounds(meant).flatMap((inner) =>
    describeProblem({ ...inner, path: [...path, ...inner.path] }, []),
  );
}
