import type { Permission } from "../model.ts";
import { parseExpression } from "./parse-expression.ts";
import type { Token } from "./token.ts";
import type { TokenStream } from "./token-stream.ts";

/** What follows the name of a permission: `= viewer + parent->view`. */
export function parsePermission(tokens: TokenStream, name: Token): Permission {
  const declared = tokens.takeSymbol(":") ? parseSubjectTypes(tokens) : undefined;
  const headed =
    (declared === undefined || declared.length > 0) &&
    tokens.expectSymbol("=", "; a permission is computed: `permission name = expression`");
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

/** `user | service`: the declared types; empty where the syntax is wrong. */
function parseSubjectTypes(tokens: TokenStream): string[] {
  const types: string[] = [];
  do {
    const type = tokens.expectIdentifier("a type");
    if (type === undefined) return [];
    types.push(type.text);
  } while (tokens.takeSymbol("|"));
  return types;
}
