import type { AllowedSubject, Relation } from "../schema/model.ts";
import type { Token } from "./lexer.ts";
import { parsePermission } from "./parse-permission.ts";
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

/** Parses the text after the name of a relation: `: user | group#member`. */
export function parseRelation(tokens: TokenStream, name: Token): Relation {
  const subjects: AllowedSubject[] = [];
  const relation: Relation = { name: name.text, subjects, position: name.position };
  let complete = tokens.expectSymbol(":", "; name the types of its subjects");
  while (complete) {
    const subject = parseSubject(tokens);
    if (subject) subjects.push(subject);
    complete = subject !== undefined;
    if (!tokens.takeSymbol("|")) break;
  }
  if (!complete) tokens.broken.add(relation);
  return relation;
}

/** `user`, `group#member`, `user:*`, each with its traits. */
function parseSubject(tokens: TokenStream): AllowedSubject | undefined {
  const type = tokens.expectPath("the type of a subject");
  if (type === undefined) return undefined;
  let wildcard = false;
  let relation: string | undefined;
  if (tokens.takeSymbol(":")) {
    if (!tokens.expectSymbol("*")) return undefined;
    wildcard = true;
  } else if (tokens.takeSymbol("#")) {
    // `group#...` is the group itself, like `group`.
    if (!tokens.takeSymbol("...")) {
      relation = tokens.expectIdentifier("a relation of the subject")?.text;
      if (relation === undefined) return undefined;
    }
  }
  const traits = parseTraits(tokens);
  if (traits === undefined) return undefined;
  return {
    type: type.text,
    ...(relation !== undefined && { relation }),
    wildcard,
    ...traits,
    position: type.position,
  };
}

/** `with caveat`, `with expiration`, `with caveat and expiration`, or nothing. */
function parseTraits(
  tokens: TokenStream,
): Pick<AllowedSubject, "caveat" | "expiration"> | undefined {
  if (!tokens.takeKeyword("with")) return { expiration: false };
  if (!tokens.isKeyword("expiration")) {
    const caveat = tokens.expectPath("the name of a caveat");
    if (caveat === undefined) return undefined;
    if (!tokens.takeKeyword("and")) return { caveat: caveat.text, expiration: false };
    // As in SpiceDB, an `and` without a following trait is ignored.
    return { caveat: caveat.text, expiration: tokens.takeKeyword("expiration") };
  }
  tokens.take();
  if (!tokens.isKeyword("and")) return { expiration: true };
  return tokens.fail('the end of the line or ";"', "; write the caveat before `and expiration`");
}
