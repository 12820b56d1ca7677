import type { Position } from "../schema/model.ts";
import { Lexer, type Token } from "./lexer.ts";
import { quote } from "./model-rules.ts";
import type { Report } from "./reporter.ts";

const KEYWORDS = ["definition", "caveat", "relation", "permission", "nil", "with"];

/** The features of `use`, with the keywords that each adds after it. */
export const FEATURES: ReadonlyMap<string, readonly string[]> = new Map([
  ["expiration", ["expiration", "and"]],
  ["typechecking", ["typechecking"]],
  ["self", ["self"]],
  ["partial", ["partial"]],
  ["import", ["import"]],
]);

/** The tokens of a schema with one token of lookahead, and the state that the parsers share. */
export class TokenStream {
  /** Everything with a syntax error; see `SchemaSyntax.broken`. */
  readonly broken = new Set<object>();
  readonly report: Report;
  readonly text: string;
  readonly #lexer: Lexer;
  readonly #keywords = new Set(KEYWORDS);
  #current: Token;

  constructor(text: string, report: Report) {
    this.text = text;
    this.report = report;
    this.#lexer = new Lexer(text);
    this.#current = this.#lexer.next();
  }

  /** The next token that no parser has consumed. */
  get current(): Token {
    return this.#current;
  }

  get position(): Position {
    return this.#current.position;
  }

  /** Takes the current token. */
  take(): Token {
    const token = this.#current;
    this.#current = this.#lexer.next();
    return token;
  }

  addKeywords(words: readonly string[]): void {
    for (const word of words) this.#keywords.add(word);
  }

  isSymbol(text: string): boolean {
    return this.#current.kind === "symbol" && this.#current.text === text;
  }

  isKeyword(word: string): boolean {
    return this.isWord(word) && this.#keywords.has(word);
  }

  isWord(word: string): boolean {
    return this.#current.kind === "word" && this.#current.text === word;
  }

  isIdentifier(): boolean {
    return this.#current.kind === "word" && !this.#keywords.has(this.#current.text);
  }

  atEnd(): boolean {
    return this.#current.kind === "end";
  }

  takeSymbol(text: string): boolean {
    if (!this.isSymbol(text)) return false;
    this.take();
    return true;
  }

  takeKeyword(word: string): boolean {
    if (!this.isKeyword(word)) return false;
    this.take();
    return true;
  }

  /** Takes the end of a statement: a `newline` token or `;`. */
  takeTerminator(): boolean {
    if (this.#current.kind !== "newline" && !this.isSymbol(";")) return false;
    this.take();
    return true;
  }

  /** Takes a symbol, or reports that it is missing and returns false. */
  expectSymbol(text: string, hint = ""): boolean {
    return this.takeSymbol(text) || this.fail(`"${text}"`, hint) !== undefined;
  }

  /** Takes an identifier, or reports that it is missing. */
  expectIdentifier(what: string): Token | undefined {
    if (this.isIdentifier()) return this.take();
    const { kind, text } = this.#current;
    return this.fail(what, kind === "word" ? `; ${quote(text)} is a keyword` : "");
  }

  /** Takes identifiers with `/` between them, as one token; or reports what is missing. */
  expectPath(what: string): Token | undefined {
    const first = this.expectIdentifier(what);
    if (first === undefined || !this.isSymbol("/")) return first;
    const parts = [first.text];
    let end = first.end;
    while (this.takeSymbol("/")) {
      const part = this.expectIdentifier(what);
      if (part === undefined) return undefined;
      parts.push(part.text);
      end = part.end;
    }
    return { ...first, text: parts.join("/"), end };
  }

  /** Reports that the current token is not what the grammar expects, or why it is not a token. */
  fail(expected: string, hint = ""): undefined {
    const { problem, position } = this.#current;
    if (problem) this.report(problem.rule, position, problem.parameter);
    else this.report("MODEL_SYNTAX", position, expected, describe(this.#current), hint);
    return undefined;
  }

  /** Skips a wrong statement, up to a possible start of the next one or the end of the body. */
  recover(): void {
    let atLineStart = false;
    while (!this.atEnd() && !this.isSymbol("}")) {
      if (STATEMENTS.some((word) => this.isKeyword(word))) return;
      if (atLineStart && this.isSymbol("...")) return;
      atLineStart = this.takeTerminator();
      if (!atLineStart) this.take();
    }
  }
}

const STATEMENTS = ["relation", "permission", "definition", "caveat", "partial"];

function describe(token: Token): string {
  if (token.kind === "end") return "the end of the file";
  return token.kind === "newline" ? "the end of the line" : quote(token.text);
}
