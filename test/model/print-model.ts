import { formatExpression, formatSubject, type Model } from "../../src/model/index.ts";

/** A model as the text of a schema. */
export function printModel({ definitions, caveats }: Model): string {
  const lines = ["use expiration", "use self"];
  for (const { name, parameters, expression } of caveats.values()) {
    const list = parameters.map((parameter) => `${parameter.name} ${parameter.type}`).join(", ");
    lines.push(`caveat ${name}(${list}) { ${expression} }`);
  }
  for (const { name, relations, permissions } of definitions.values()) {
    lines.push(`definition ${name} {`);
    for (const relation of relations.values()) {
      lines.push(
        `  relation ${relation.name}: ${relation.subjects.map(formatSubject).join(" | ")}`,
      );
    }
    for (const permission of permissions.values()) {
      const types = permission.subjectTypes ? `: ${permission.subjectTypes.join(" | ")}` : "";
      const expression = formatExpression(permission.expression);
      lines.push(`  permission ${permission.name}${types} = ${expression}`);
    }
    lines.push("}");
  }
  return `${lines.join("\n")}\n`;
}
