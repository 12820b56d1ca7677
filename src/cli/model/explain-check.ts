import type { CheckRequest } from "../../authz/engine/requests.ts";
import { formatExplanation } from "../../authz/validation/format-explanation.ts";
import { writeRelationships } from "../../authz/validation/run-validation.ts";
import { printable } from "../../common/printable.ts";
import { displayPath } from "../../compiler/platform.ts";
import { UsageError } from "../../diagnostics/usage-error.ts";
import type { Model } from "../../model/index.ts";
import { formatSubjectReference, parseRelationship } from "../../model/relationship-text.ts";
import { whyNoRelationship } from "../../model/validation/read-relationships.ts";
import { createEngine } from "./embedded-engine.ts";
import { loadRelationships } from "./files.ts";

/**
 * Decides a check with the relationships of a file, and explains the decision.
 *
 * @returns undefined if the model does not allow a relationship, which is reported on stderr
 * @throws UsageError if the check or the file cannot be used
 */
export async function explainCheck(model: Model, check: string, path: string) {
  const request = parseCheck(check);
  const relationships = await loadRelationships(path);
  const engine = await createEngine(model);
  try {
    const failures = await writeRelationships(engine, model, relationships);
    for (const { line, column, assertion, message } of failures) {
      const place = `${displayPath(path)}:${line}:${column}`;
      process.stderr.write(`${printable(`${place}: ${assertion}: ${message}`)}\n`);
    }
    if (failures.length > 0) return undefined;
    const { allowed, explanation } = await engine.explain(request);
    return {
      document: { check, allowed, explanation },
      lines: [
        `${formatSubjectReference(request.subject)} is ${allowed ? "allowed" : "denied"}:`,
        ...formatExplanation(explanation, request.subject).map((line) => `  ${line}`),
      ],
    };
  } catch (error) {
    if (error instanceof Error && error.name === "AuthzError") {
      throw new UsageError(`--check ${check}: ${error.message}`);
    }
    throw error;
  } finally {
    await engine.close();
  }
}

function parseCheck(check: string): CheckRequest {
  const parsed = parseRelationship(check.trim());
  if (parsed === undefined) throw new UsageError(`--check ${whyNoRelationship(check)}`);
  if (parsed.caveat !== undefined || parsed.expiration !== undefined) {
    throw new UsageError(`--check ${check}: a check has no brackets; remove them`);
  }
  const { resource, relation: permission, subject } = parsed.relationship;
  return { resource, permission, subject };
}
