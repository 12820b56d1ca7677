import type { Token } from "./lexer.ts";
import { parsePermission } from "./parse-permission.ts";
import { parseRelation } from "./parse-relation.ts";
import type { Report } from "./reporter.ts";
import type { MemberSyntax } from "./schema-syntax.ts";
import type { TokenStream } from "./token-stream.ts";

/** Parses the members of a definition or partial, including the closing brace. */
export function parseBody(tokens: TokenStream): MemberSyntax[] {
  const members: MemberSyntax[] = [];
  while (!tokens.takeSymbol("}")) {
    if (tokens.atEnd() || startsDefinition(tokens)) {
      tokens.fail('"}"', "; close the definition");
      break;
    }
    if (tokens.takeTerminator()) continue;
    const errorsBefore = tokens.broken.size;
    const member = parseMember(tokens);
    if (member) members.push(member);
    const failed = member === undefined || tokens.broken.size > errorsBefore;
    if (failed) tokens.recover();
    else if (!tokens.takeTerminator()) {
      tokens.fail('the end of the line or ";"', terminatorHint(tokens));
      tokens.recover();
    }
  }
  return members;
}

/** Whether a definition, partial or caveat begins here. */
export function startsDefinition(tokens: TokenStream): boolean {
  return ["definition", "caveat", "partial"].some((word) => tokens.isKeyword(word));
}

function parseMember(tokens: TokenStream): MemberSyntax | undefined {
  if (tokens.takeKeyword("relation")) {
    const name = tokens.expectIdentifier("the name of the relation");
    if (name === undefined) return undefined;
    checkMemberName("relation", name, tokens.report);
    return { kind: "relation", relation: parseRelation(tokens, name) };
  }
  if (tokens.takeKeyword("permission")) {
    const name = tokens.expectIdentifier("the name of the permission");
    if (name === undefined) return undefined;
    checkMemberName("permission", name, tokens.report);
    return { kind: "permission", permission: parsePermission(tokens, name) };
  }
  if (tokens.takeSymbol("...")) {
    const name = tokens.expectIdentifier("the name of a partial");
    return name && { kind: "partial", name: name.text, position: name.position };
  }
  return tokens.fail('a relation, a permission or "}"', lineStartHint(tokens));
}

function lineStartHint(tokens: TokenStream): string {
  if (!["+", "&", "-", "|", "->"].includes(tokens.current.text)) return "";
  return "; write an operator at the end of a line, not at the start of the next";
}

function terminatorHint(tokens: TokenStream): string {
  const { text } = tokens.current;
  if (text === "->" || text === ".")
    return "; only the name of a relation is allowed on the left of an arrow";
  return text === "}" ? '; put a ";" before it, or a line break' : "";
}

const MEMBER_NAME = /^[a-z][a-z0-9_]{1,62}[a-z0-9]$/;
const TYPE_NAME = /^([a-z][a-z0-9_]{1,62}[a-z0-9]\/)*[a-z][a-z0-9_]{1,62}[a-z0-9]$/;
const TYPE_NAME_LENGTH = 128;

/** Reports a name of a relation or permission that SpiceDB would reject. */
function checkMemberName(what: string, name: Token, report: Report): void {
  if (!MEMBER_NAME.test(name.text)) report("MODEL_NAME_INVALID", name.position, what, name.text);
}

/** Reports a name of a definition that SpiceDB would reject. */
export function checkTypeName(name: Token, report: Report): void {
  if (name.text.length > TYPE_NAME_LENGTH || !TYPE_NAME.test(name.text)) {
    report("MODEL_NAME_INVALID", name.position, "definition", name.text);
  }
}
