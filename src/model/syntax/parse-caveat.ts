import type { Caveat, CaveatParameter } from "../schema/model.ts";
import { suggest } from "./reporter.ts";
import type { TokenStream } from "./token-stream.ts";

const TYPES = [
  ...["any", "bool", "string", "int", "uint", "double", "bytes", "duration", "timestamp"],
  ...["ipaddress", "list", "map"],
];
const GENERIC_TYPES = ["list", "map"];
const MAX_TYPE_DEPTH = 32;

/** `caveat name(parameter type, …) { CEL }`, or undefined if its syntax is wrong. */
export function parseCaveat(tokens: TokenStream): Caveat | undefined {
  tokens.take();
  const name = tokens.expectPath("the name of the caveat");
  if (name === undefined || !tokens.expectSymbol("(")) return undefined;
  const parameters: CaveatParameter[] = [];
  do {
    const parameter = parseParameter(tokens);
    if (parameter === undefined) return undefined;
    if (parameters.some((other) => other.name === parameter.name)) {
      const { position } = parameter;
      tokens.report("MODEL_PARAMETER_DUPLICATE", position, parameter.name, name.text);
    }
    parameters.push(parameter);
  } while (tokens.takeSymbol(","));
  if (!tokens.expectSymbol(")", "; a line break goes after a comma")) return undefined;
  if (!tokens.expectSymbol("{")) return undefined;

  const body = takeExpression(tokens);
  if (body === undefined || !tokens.expectSymbol("}")) return undefined;
  for (const parameter of parameters) {
    if (body.words.has(parameter.name)) continue;
    tokens.report("MODEL_CAVEAT_PARAMETER_UNUSED", parameter.position, parameter.name, name.text);
  }
  return { name: name.text, parameters, expression: body.expression, position: name.position };
}

function parseParameter(tokens: TokenStream): CaveatParameter | undefined {
  const name = tokens.expectIdentifier("the name of a parameter");
  if (name === undefined) return undefined;
  const type = parseType(tokens, 0);
  return type === undefined ? undefined : { name: name.text, type, position: name.position };
}

/** `string`, `list<string>` */
function parseType(tokens: TokenStream, depth: number): string | undefined {
  const type = tokens.expectIdentifier("the type of a parameter");
  if (type === undefined) return undefined;
  if (!TYPES.includes(type.text)) {
    tokens.report("MODEL_CAVEAT_TYPE_UNKNOWN", type.position, type.text, suggest(type.text, TYPES));
  }
  if (!tokens.isSymbol("<") || depth === MAX_TYPE_DEPTH) {
    if (!GENERIC_TYPES.includes(type.text)) return type.text;
    return tokens.fail('"<"', `; ${type.text} takes the type of its elements`);
  }
  tokens.take();
  const element = parseType(tokens, depth + 1);
  if (element === undefined || !tokens.expectSymbol(">")) return undefined;
  return `${type.text}<${element}>`;
}

/**
 * Reads the CEL expression up to its closing brace. It reads tokens, so that braces in strings and
 * comments do not count.
 */
function takeExpression(
  tokens: TokenStream,
): { expression: string; words: ReadonlySet<string> } | undefined {
  const words = new Set<string>();
  const { start } = tokens.current;
  let end = start;
  for (let depth = 0; depth > 0 || !tokens.isSymbol("}"); ) {
    const { kind } = tokens.current;
    if (kind === "end" || kind === "invalid") return tokens.fail('"}"', "; close the caveat");
    if (tokens.isSymbol("{")) depth++;
    else if (tokens.isSymbol("}")) depth--;
    const token = tokens.take();
    if (kind === "newline") continue;
    if (kind === "word") words.add(token.text);
    end = token.end;
  }
  if (end === start) return tokens.fail("a CEL expression");
  return { expression: tokens.text.slice(start, end), words };
}
