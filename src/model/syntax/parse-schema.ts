import type { Caveat } from "../schema/model.ts";
import { parseCaveat } from "./parse-caveat.ts";
import { checkTypeName, parseBody, startsDefinition } from "./parse-definition.ts";
import { type Report, suggest } from "./reporter.ts";
import type { DefinitionSyntax, SchemaSyntax } from "./schema-syntax.ts";
import { FEATURES, TokenStream } from "./token-stream.ts";

/** Parses the text of a schema; it reports errors and continues after them. */
export function parseSchema(text: string, report: Report): SchemaSyntax {
  const tokens = new TokenStream(text, report);
  const features = new Set<string>();
  const definitions: DefinitionSyntax[] = [];
  const partials: DefinitionSyntax[] = [];
  const caveats: Caveat[] = [];

  for (;;) {
    // Only one terminator: SpiceDB rejects a second one here.
    tokens.takeTerminator();
    if (tokens.atEnd()) break;
    if (tokens.isWord("use")) {
      parseUse(tokens, features, definitions.length + caveats.length > 0);
    } else if (tokens.isKeyword("definition")) {
      const definition = parseDefinition(tokens, "definition");
      if (definition) definitions.push(definition);
    } else if (tokens.isKeyword("partial")) {
      const partial = parseDefinition(tokens, "partial");
      if (partial) partials.push(partial);
    } else if (tokens.isKeyword("caveat")) {
      const caveat = parseCaveat(tokens);
      if (caveat) caveats.push(caveat);
      else skipToTopLevel(tokens);
    } else if (tokens.isWord("import")) {
      report("MODEL_IMPORT_UNSUPPORTED", tokens.position);
      skipToTopLevel(tokens);
    } else {
      tokens.fail("a definition, a caveat or `use`", topLevelHint(tokens));
      skipToTopLevel(tokens);
    }
  }
  return { features, definitions, partials, caveats, broken: tokens.broken };
}

/** `use expiration` */
function parseUse(tokens: TokenStream, features: Set<string>, late: boolean): void {
  const { position } = tokens.take();
  if (tokens.current.kind !== "word") {
    tokens.fail("the name of a feature");
    skipToTopLevel(tokens);
    return;
  }
  const { text: feature, position: featurePosition } = tokens.take();
  const keywords = FEATURES.get(feature);
  if (keywords === undefined) {
    const known = [...FEATURES.keys()];
    const hint = suggest(feature, known);
    tokens.report("MODEL_USE_UNKNOWN", featurePosition, feature, known, hint);
  } else if (late) {
    tokens.report("MODEL_USE_LATE", position);
  } else {
    features.add(feature);
    tokens.addKeywords(keywords);
  }
}

/** `definition name { … }`, and the same for a partial. */
function parseDefinition(tokens: TokenStream, kind: "definition" | "partial") {
  tokens.take();
  const name = tokens.expectPath(`the name of the ${kind}`);
  if (name === undefined) {
    skipToTopLevel(tokens);
    return undefined;
  }
  if (kind === "definition") checkTypeName(name, tokens.report);
  const opened = tokens.expectSymbol("{");
  const members = opened ? parseBody(tokens) : [];
  const definition: DefinitionSyntax = { name: name.text, members, position: name.position };
  if (!opened) {
    tokens.broken.add(definition);
    skipToTopLevel(tokens);
  }
  return definition;
}

function topLevelHint(tokens: TokenStream): string {
  const { text } = tokens.current;
  if (text === "partial") return "; add `use partial` at the top of the file";
  return text === "relation" || text === "permission" ? "; move it into a definition" : "";
}

/** Skips tokens that cannot start a statement; they are reported once. */
function skipToTopLevel(tokens: TokenStream): void {
  while (!tokens.atEnd() && !startsDefinition(tokens)) tokens.take();
}
