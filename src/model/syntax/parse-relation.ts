import type { AllowedSubject, Relation } from "../schema/model.ts";
import type { Token } from "./lexer.ts";
import type { TokenStream } from "./token-stream.ts";

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
