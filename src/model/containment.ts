import {
  type Caveat,
  type Definition,
  type Expression,
  formatSubject,
  type Model,
  type Position,
} from "./schema/model.ts";
import { Lexer } from "./syntax/lexer.ts";

/** A definition or caveat of a model that another model lacks, or has with another meaning. */
export interface ModelGap {
  readonly kind: "definition" | "caveat";
  readonly name: string;
  /** The relations and permissions that differ, by name; absent if the definition is missing. */
  readonly differs?: readonly string[];
  /** Its position in the model that must be contained. */
  readonly position: Position;
  /** Its position in the other model, if it has another meaning there. */
  readonly otherPosition?: Position;
}

/**
 * Finds the gaps that keep a model from being contained in another, which must have each of its
 * definitions and caveats with the same meaning. An engine with the other model then makes the same
 * decisions.
 *
 * @returns the gaps in the order of the part; empty if it is contained
 */
export function findGaps(whole: Model, part: Model): ModelGap[] {
  const gaps: ModelGap[] = [];
  for (const definition of part.definitions.values()) {
    const { name, position } = definition;
    const other = whole.definitions.get(name);
    if (other === undefined) gaps.push({ kind: "definition", name, position });
    else {
      const differs = differingMembers(definition, other);
      if (differs.length === 0) continue;
      const otherPosition = other.position;
      gaps.push({ kind: "definition", name, differs, position, otherPosition });
    }
  }
  for (const caveat of part.caveats.values()) {
    const { name, position } = caveat;
    const other = whole.caveats.get(name);
    if (other === undefined) gaps.push({ kind: "caveat", name, position });
    else if (!isSameCaveat(caveat, other)) {
      gaps.push({ kind: "caveat", name, differs: [], position, otherPosition: other.position });
    }
  }
  return gaps;
}

/** The relations and permissions in which two definitions with one name differ, by name. */
export function differingMembers(left: Definition, right: Definition): string[] {
  const [one, other] = [definitionMeaning(left), definitionMeaning(right)];
  return [...new Set([...one.keys(), ...other.keys()])]
    .filter((name) => one.get(name) !== other.get(name))
    .sort();
}

/** Whether two caveats with one name have the same meaning. */
export function isSameCaveat(left: Caveat, right: Caveat): boolean {
  return caveatMeaning(left) === caveatMeaning(right);
}

/** The maximum number of gaps in a message. */
const MAX_NAMED = 5;

/** The gaps as a phrase: `it lacks bill; its order differs (owner, view)`. */
export function formatGaps(gaps: readonly ModelGap[]): string {
  const missing = gaps.filter(({ differs }) => differs === undefined);
  const different = gaps.filter(({ differs }) => differs !== undefined);
  const phrases: string[] = [];
  if (missing.length > 0) phrases.push(`it lacks ${named(missing.map(({ name }) => name))}`);
  for (const { name, differs = [] } of different.slice(0, MAX_NAMED)) {
    phrases.push(`its ${name} differs${differs.length === 0 ? "" : ` (${named(differs)})`}`);
  }
  if (different.length > MAX_NAMED) phrases.push(`${different.length - MAX_NAMED} more differ`);
  return phrases.join("; ");
}

function named(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return more > 0 ? `${names.slice(0, MAX_NAMED).join(", ")} and ${more} more` : names.join(", ");
}

/**
 * The meaning of a definition, as one text for each relation and permission: two definitions with the
 * same texts make the same decisions. The texts do not include white space, comments, the order of
 * members, subjects and operands, and the declared types of permissions, which decide nothing.
 */
function definitionMeaning({ relations, permissions }: Definition): ReadonlyMap<string, string> {
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
function caveatMeaning({ parameters, expression }: Caveat): string {
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
