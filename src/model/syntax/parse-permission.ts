import type { Expression, Permission, Position } from "../schema/model.ts";
import type { Token } from "./lexer.ts";
import { suggest } from "./reporter.ts";
import type { TokenStream } from "./token-stream.ts";

/** Parses the text after the name of a permission: `= viewer + parent->view`. */
export function parsePermission(tokens: TokenStream, name: Token): Permission {
  const declared = tokens.takeSymbol(":") ? parseSubjectTypes(tokens) : undefined;
  const headed =
    (declared === undefined || declared.length > 0) &&
    tokens.expectSymbol("=", "; a permission has an expression: `permission name = expression`");
  const expression = headed ? parseExpression(tokens) : undefined;
  const permission: Permission = {
    name: name.text,
    expression: expression ?? { kind: "nil", position: name.position },
    ...(declared !== undefined && { subjectTypes: declared }),
    position: name.position,
  };
  if (expression === undefined) tokens.broken.add(permission);
  return permission;
}

/** `user | service`: the declared types; empty if the syntax is wrong. */
function parseSubjectTypes(tokens: TokenStream): string[] {
  const types: string[] = [];
  do {
    const type = tokens.expectIdentifier("a type");
    if (type === undefined) return [];
    types.push(type.text);
  } while (tokens.takeSymbol("|"));
  return types;
}

/**
 * The maximum nesting of an expression. Code that reads expressions is recursive, so this limit keeps
 * it from overflowing the stack.
 */
const MAX_DEPTH = 256;

/**
 * The expression of a permission, or undefined if its syntax is wrong.
 *
 * Union binds tightest, then intersection, then exclusion: `a - b + c` is `a - (b + c)`.
 */
function parseExpression(tokens: TokenStream): Expression | undefined {
  return parseExclusion(tokens, 0);
}

function parseExclusion(tokens: TokenStream, depth: number): Expression | undefined {
  let base = parseOperands(tokens, depth, "intersection");
  // Each additional exclusion is one level deeper, because a chain of exclusions nests to the left.
  for (let level = depth + 1; base !== undefined && tokens.isSymbol("-"); level++) {
    if (level > MAX_DEPTH) return failDepth(tokens);
    tokens.take();
    const subtracted = parseOperands(tokens, level, "intersection");
    base = subtracted && { kind: "exclusion", base, subtracted };
  }
  return base;
}

function parseOperands(
  tokens: TokenStream,
  depth: number,
  kind: "intersection" | "union",
): Expression | undefined {
  const operator = kind === "union" ? "+" : "&";
  const operands: Expression[] = [];
  do {
    const operand: Expression | undefined =
      kind === "union" ? parseOperand(tokens, depth) : parseOperands(tokens, depth, "union");
    if (operand === undefined) return undefined;
    // As in SpiceDB, `a + (b + c)` is one union of three.
    if (operand.kind === kind) for (const part of operand.operands) operands.push(part);
    else operands.push(operand);
  } while (tokens.takeSymbol(operator));
  const [only] = operands;
  return operands.length === 1 ? only : { kind, operands };
}

function parseOperand(tokens: TokenStream, depth: number): Expression | undefined {
  const { position } = tokens;
  if (tokens.isSymbol("(")) {
    if (depth >= MAX_DEPTH) return failDepth(tokens);
    tokens.take();
    const inner = parseExclusion(tokens, depth + 1);
    if (inner === undefined) return undefined;
    const hint = tokens.current.kind === "newline" ? LINE_BREAK_HINT : "";
    return tokens.expectSymbol(")", hint) ? inner : undefined;
  }
  if (tokens.takeKeyword("nil")) return { kind: "nil", position };
  if (tokens.takeKeyword("self")) return { kind: "self", position };
  const name = tokens.expectIdentifier('a relation, a permission, "nil" or "("');
  if (name === undefined) return undefined;
  const reference: Expression = { kind: "reference", name: name.text, position };
  const expression = isArrow(tokens) ? parseArrow(tokens, name.text, position) : reference;
  if (expression === undefined || !isArrow(tokens)) return expression;
  tokens.report("MODEL_ARROW_NESTED", tokens.position);
  return undefined;
}

const LINE_BREAK_HINT = "; a line break goes after an operator or after an opening parenthesis";

function isArrow(tokens: TokenStream): boolean {
  return tokens.isSymbol("->") || tokens.isSymbol(".");
}

/** `->view`, `.any(view)` or `.all(view)`. */
function parseArrow(
  tokens: TokenStream,
  relation: string,
  position: Position,
): Expression | undefined {
  const short = tokens.take().text === "->";
  const called = short ? "any" : parseFunctionName(tokens);
  if (called === undefined || (!short && !tokens.expectSymbol("("))) return undefined;
  const permission = tokens.expectIdentifier("a permission of the related type");
  if (permission === undefined || (!short && !tokens.expectSymbol(")"))) return undefined;
  return {
    kind: "arrow",
    relation,
    function: called,
    permission: permission.text,
    position,
    permissionPosition: permission.position,
  };
}

function parseFunctionName(tokens: TokenStream): "any" | "all" | undefined {
  const name = tokens.expectIdentifier("any or all");
  if (name === undefined) return undefined;
  if (name.text === "any" || name.text === "all") return name.text;
  const hint = suggest(name.text, ["any", "all"]);
  tokens.report("MODEL_ARROW_FUNCTION", name.position, name.text, hint);
  return undefined;
}

function failDepth(tokens: TokenStream): undefined {
  tokens.report("MODEL_NESTING_DEPTH", tokens.position, MAX_DEPTH);
  return undefined;
}
