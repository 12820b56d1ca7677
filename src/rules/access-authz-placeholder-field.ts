import { describeMissingField, type FieldReference, isInteger } from "../api/field.ts";
import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { type DeclaredResource, PRINCIPAL_FIELDS, type ResourceTemplate } from "../api/resource.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import { policyRule } from "./rule.ts";

export const accessAuthzPlaceholderField = policyRule({
  id: "ACCESS_AUTHZ_PLACEHOLDER_FIELD",
  category: "ACCESS",
  purpose:
    "Checks that each placeholder of authz.resource names a singular string, integer or enum field of the request, or a field of the principal.",
  checkRpc(rpc, report) {
    if (rpc.resource?.template === undefined) return;
    for (const problem of placeholderProblems(rpc.resource)) {
      report.atPolicy(`authz.resource: ${problem}`, POLICY_FIELD.authz, AUTHZ_FIELD.resource);
    }
  },
});

/** The problems of the placeholders of a resource. */
export function placeholderProblems({
  template,
  fields,
}: Extract<DeclaredResource, { fields: unknown }>): string[] {
  return [...fields.map(fieldProblem), ...principalProblems(template)].filter(
    (problem) => problem !== undefined,
  );
}

function fieldProblem({ path, found }: FieldReference): string | undefined {
  if (found.status !== "found") {
    return `{${path}} is not a request field: ${describeMissingField(found)}`;
  }
  if (found.repeated) return `{${path}} is repeated; a resource is one object`;
  if (found.kind === "string" || found.kind === "enum" || isInteger(found.kind)) return undefined;
  const fix = found.kind === "message" ? `; name a field in it, such as {${path}.id}` : "";
  return `{${path}} is a ${found.kind}; a placeholder names a string, integer or enum field${fix}`;
}

function principalProblems(template: ResourceTemplate): (string | undefined)[] {
  if (template.id === "*") return [];
  return template.id.map((part) => {
    if (part.kind !== "principal") return undefined;
    const singular = PRINCIPAL_FIELDS.filter(({ list }) => !list).map(({ name }) => name);
    if (singular.includes(part.field)) return undefined;
    if (part.field === "") {
      return "{principal} is the caller; name a field of it, such as {principal.subject_id}";
    }
    if (PRINCIPAL_FIELDS.some(({ name }) => name === part.field)) {
      return `{principal.${part.field}} is a list; a resource is one object`;
    }
    const hint = didYouMean(part.field, singular) || `; the fields are ${singular.join(", ")}`;
    return `{principal.${part.field}} is not a field of the principal${hint}`;
  });
}
