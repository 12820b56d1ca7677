import {
  type Caveat,
  type Definition,
  type Expression,
  formatSubject,
  type Model,
} from "./schema/model.ts";

/**
 * A model as the text of a schema: caveats, then definitions, each by name. Members keep their
 * order.
 *
 * @param commentOf - the comment line above a definition or caveat
 */
export function printModel(model: Model, commentOf?: (name: string) => string): string {
  const comment = (name: string) => (commentOf === undefined ? [] : [`// ${commentOf(name)}`]);
  const parts = [
    ...byName(model.caveats).map((caveat) => [...comment(caveat.name), ...printCaveat(caveat)]),
    ...byName(model.definitions).map((definition) => [
      ...comment(definition.name),
      ...printDefinition(definition),
    ]),
  ];
  const uses = featuresOf(model).map((feature) => `use ${feature}\n`);
  const head = uses.length === 0 ? "" : `${uses.join("")}\n`;
  return head + parts.map((lines) => `${lines.join("\n")}\n`).join("\n");
}

function byName<Item extends { readonly name: string }>(items: ReadonlyMap<string, Item>): Item[] {
  return [...items.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
}

function printCaveat({ name, parameters, expression }: Caveat): string[] {
  const list = parameters.map((parameter) => `${parameter.name} ${parameter.type}`).join(", ");
  return [`caveat ${name}(${list}) {`, `  ${expression.trim()}`, "}"];
}

function printDefinition({ name, relations, permissions }: Definition): string[] {
  if (relations.size + permissions.size === 0) return [`definition ${name} {}`];
  const lines = [...relations.values()].map(
    (relation) =>
      `  relation ${relation.name}: ${relation.subjects.map(formatSubject).join(" | ")}`,
  );
  if (relations.size > 0 && permissions.size > 0) lines.push("");
  for (const { name, subjectTypes, expression } of permissions.values()) {
    const types = subjectTypes === undefined ? "" : `: ${subjectTypes.join(" | ")}`;
    lines.push(`  permission ${name}${types} = ${formatExpression(expression)}`);
  }
  return [`definition ${name} {`, ...lines, "}"];
}

/** The features that the text enables with `use`. */
function featuresOf({ definitions }: Model): string[] {
  const features = new Set<string>();
  for (const { relations, permissions } of definitions.values()) {
    for (const { subjects } of relations.values()) {
      if (subjects.some(({ expiration }) => expiration)) features.add("expiration");
    }
    for (const { expression, subjectTypes } of permissions.values()) {
      if (holdsSelf(expression)) features.add("self");
      if (subjectTypes !== undefined) features.add("typechecking");
    }
  }
  return [...features].sort();
}

function holdsSelf(expression: Expression): boolean {
  switch (expression.kind) {
    case "union":
    case "intersection":
      return expression.operands.some(holdsSelf);
    case "exclusion":
      return holdsSelf(expression.base) || holdsSelf(expression.subtracted);
    default:
      return expression.kind === "self";
  }
}

/**
 * An expression in the schema language.
 *
 * Parentheses always separate different operators: SpiceDB's precedence (union
 * before intersection before exclusion) is not what most readers expect.
 */
export function formatExpression(expression: Expression): string {
  switch (expression.kind) {
    case "nil":
    case "self":
      return expression.kind;
    case "reference":
      return expression.name;
    case "arrow":
      return expression.function === "any"
        ? `${expression.relation}->${expression.permission}`
        : `${expression.relation}.all(${expression.permission})`;
    case "union":
      return expression.operands.map(formatOperand).join(" + ");
    case "intersection":
      return expression.operands.map(formatOperand).join(" & ");
    case "exclusion": {
      const { base, subtracted } = expression;
      // A chain of exclusions is left-associative, so its first part needs no parentheses.
      const left = base.kind === "exclusion" ? formatExpression(base) : formatOperand(base);
      return `${left} - ${formatOperand(subtracted)}`;
    }
  }
}

function formatOperand(operand: Expression): string {
  const text = formatExpression(operand);
  const compound =
    operand.kind === "union" || operand.kind === "intersection" || operand.kind === "exclusion";
  return compound ? `(${text})` : text;
}
