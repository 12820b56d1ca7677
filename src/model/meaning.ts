import { type Caveat, type Definition, type Expression, formatSubject } from "./schema/model.ts";
import { Lexer } from "./syntax/lexer.ts";

/**
 * The meaning of a definition, as one text for each relation and permission: two definitions with the
 * same texts make the same decisions. The texts do not include white space, comments, the order of
 * members, subjects and operands, and the declared types of permissions, which decide nothing.
 */
export function definitionMeaning({
  relations,
  permissions,
}: Definition): ReadonlyMap<string, string> {
  const meaning = new Map<string, string>();
  for (const { name, subjects } of relations.values()) {
    meaning.set(name, `relation ${distinct(subjects.map(formatSubject)).join(" | ")}`);
  }
  for (const { name, expression } of permissions.values()) {
    meaning.set(name, `permission ${normalForm(expression).text}`);
  }
  return meaning;
}

/** The meaning of a caveat: its parameters in any order, and the tokens of its expression. */
export function caveatMeaning({ parameters, expression }: Caveat): string {
  const list = distinct(parameters.map(({ name, type }) => `${name} ${type}`)).join(", ");
  const tokens: string[] = [];
  const lexer = new Lexer(expression);
  for (let token = lexer.next(); token.kind !== "end"; token = lexer.next()) {
    if (token.kind !== "newline") tokens.push(quotedAlike(token.text));
  }
  return `(${list}) ${tokens.join(" ")}`;
}

/** A string token in double quotes, as SpiceDB prints caveats. */
function quotedAlike(token: string): string {
  const [, content] = /^'([^'"\\]*)'$/.exec(token) ?? [];
  return content === undefined ? token : `"${content}"`;
}

/** An expression with sorted operands, without duplicates. */
interface NormalForm {
  readonly operator: "+" | "&" | "-" | undefined;
  /** The operands; in an exclusion, the base comes first. */
  readonly parts: readonly string[];
  readonly text: string;
}

function normalForm(expression: Expression): NormalForm {
  switch (expression.kind) {
    case "nil":
    case "self":
      return leaf(expression.kind);
    case "reference":
      return leaf(expression.name);
    case "arrow":
      return leaf(`${expression.relation}.${expression.function}(${expression.permission})`);
    case "union":
      return combined("+", expression.operands.map(normalForm));
    case "intersection":
      return combined("&", expression.operands.map(normalForm));
    case "exclusion": {
      const base = normalForm(expression.base);
      const subtracted = normalForm(expression.subtracted);
      // a - b - c is a - (b + c).
      const [first, ...rest] = base.operator === "-" ? base.parts : [base.text];
      const added = subtracted.operator === "+" ? subtracted.parts : [subtracted.text];
      return compound("-", [first ?? "", ...distinct([...rest, ...added])]);
    }
  }
}

function combined(operator: "+" | "&", operands: readonly NormalForm[]): NormalForm {
  const parts = distinct(
    operands.flatMap((operand) => (operand.operator === operator ? operand.parts : [operand.text])),
  );
  const [only] = parts;
  const same = operands.find(({ text }) => text === only);
  return parts.length === 1 && same !== undefined ? same : compound(operator, parts);
}

function leaf(text: string): NormalForm {
  return { operator: undefined, parts: [text], text };
}

function compound(operator: "+" | "&" | "-", parts: readonly string[]): NormalForm {
  return { operator, parts, text: `(${parts.join(` ${operator} `)})` };
}

/** Sorts texts and removes duplicates. */
function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}
