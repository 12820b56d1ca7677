import type { Position } from "../schema/model.ts";
import { quote } from "./model-rules.ts";

/**
 * The kind of a token.
 *
 * - `word`: an identifier, a keyword or a number; which words are keywords depends on the `use`
 *   statements before it, so the parser distinguishes them
 * - `newline`: a line break that ends a statement; other line breaks are not tokens
 * - `invalid`: text that is not a token; its `problem` has the reason
 */
export type TokenKind = "word" | "symbol" | "string" | "newline" | "invalid" | "end";

/** A token, with the offsets of its text in UTF-16 code units. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly position: Position;
  readonly problem?: TokenProblem;
}

/** The rule that an invalid token breaks, with the parameter of its message. */
export interface TokenProblem {
  readonly rule:
    | "MODEL_CHARACTER_UNKNOWN"
    | "MODEL_COMMENT_UNTERMINATED"
    | "MODEL_STRING_UNTERMINATED";
  readonly parameter: string;
}

const WORD = /[\p{L}\p{Nd}_]+/uy;
const LINE_REST = /[^\r\n]*/y;
const APOSTROPHE_REST = /[^'\r\n]*/y;
const QUOTE_REST = /[^"\r\n]*/y;

/** The symbols, longest first, including those of CEL: the body of a caveat is also tokenized. */
const SYMBOLS = [
  ...["...", "->", "||", "&&", "!=", "<=", ">=", "=="],
  ...["{", "}", "(", ")", "[", "]", "|", "+", "-", "&", "/", "=", ":", ";", "#", "*"],
  ...["?", "!", ".", ",", "%", "<", ">"],
];

const SYMBOLS_BY_START = new Map<string, readonly string[]>();
for (const symbol of SYMBOLS) {
  const start = symbol.charAt(0);
  SYMBOLS_BY_START.set(start, [...(SYMBOLS_BY_START.get(start) ?? []), symbol]);
}

/** Splits the text of a schema into tokens, one at a time, as SpiceDB's lexer does. */
export class Lexer {
  readonly #text: string;
  #offset = 0;
  #line = 1;
  #lineStart = 0;
  #endsStatement = false;

  constructor(text: string) {
    this.#text = text;
    // A byte order mark is not part of the text and has no column.
    if (text.startsWith("\uFEFF")) this.#offset = this.#lineStart = 1;
  }

  /** The next token; after the end of the text, always the `end` token. */
  next(): Token {
    const text = this.#text;
    while (this.#offset < text.length) {
      const character = text[this.#offset];
      if (character === " " || character === "\t") {
        this.#offset++;
      } else if (character === "\n" || character === "\r") {
        // As in Go, a line break is a token only after a token that can end a statement.
        const token = this.#endsStatement ? this.#token("newline", this.#offset + 1) : undefined;
        this.#passLineBreaks(text.startsWith("\r\n", this.#offset) ? 2 : 1);
        if (token) return token;
      } else if (text.startsWith("//", this.#offset)) {
        LINE_REST.lastIndex = this.#offset;
        LINE_REST.test(text);
        this.#offset = LINE_REST.lastIndex;
      } else if (text.startsWith("/*", this.#offset)) {
        const invalid = this.#passComment();
        if (invalid) return invalid;
      } else {
        return this.#visibleToken(character ?? "");
      }
    }
    return this.#token("end", this.#offset);
  }

  #visibleToken(character: string): Token {
    if (character === '"' || character === "'") return this.#string(character);
    for (const symbol of SYMBOLS_BY_START.get(character) ?? []) {
      if (this.#text.startsWith(symbol, this.#offset)) {
        return this.#advance("symbol", this.#offset + symbol.length);
      }
    }
    WORD.lastIndex = this.#offset;
    if (WORD.test(this.#text)) return this.#advance("word", WORD.lastIndex);
    return this.#unknownCharacter();
  }

  /** As in SpiceDB, strings have no escapes, and a string with three apostrophes ends at three quotes. */
  #string(mark: string): Token {
    const long = this.#text.startsWith(mark.repeat(3), this.#offset);
    const close = long ? '"""' : mark;
    const end = long ? this.#text.indexOf(close, this.#offset + 3) : this.#stringEnd(mark);
    if (end >= 0 && this.#text.startsWith(close, end)) {
      const token = this.#token("string", end + close.length);
      this.#passLineBreaks(token.text.length);
      this.#endsStatement = false;
      return token;
    }
    const problem: TokenProblem = { rule: "MODEL_STRING_UNTERMINATED", parameter: close };
    return { ...this.#advance("invalid", long ? this.#text.length : end), problem };
  }

  /** The end of the quote or the line; the search stops there, as it would otherwise take quadratic time. */
  #stringEnd(mark: string): number {
    const rest = mark === "'" ? APOSTROPHE_REST : QUOTE_REST;
    rest.lastIndex = this.#offset + 1;
    rest.test(this.#text);
    return rest.lastIndex;
  }

  #passComment(): Token | undefined {
    const end = this.#text.indexOf("*/", this.#offset + 2);
    if (end >= 0) {
      this.#passLineBreaks(end + 2 - this.#offset);
      return undefined;
    }
    const problem: TokenProblem = { rule: "MODEL_COMMENT_UNTERMINATED", parameter: '"*/"' };
    return { ...this.#advance("invalid", this.#text.length), problem };
  }

  #unknownCharacter(): Token {
    const code = this.#text.codePointAt(this.#offset) ?? 0;
    const token = this.#advance("invalid", this.#offset + (code > 0xffff ? 2 : 1));
    const printable = /^[\p{P}\p{S}]$/u.test(token.text);
    const codePoint = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    const parameter = printable ? quote(token.text) : codePoint;
    return { ...token, problem: { rule: "MODEL_CHARACTER_UNKNOWN", parameter } };
  }

  #token(kind: TokenKind, end: number): Token {
    const start = this.#offset;
    const position = { line: this.#line, column: start - this.#lineStart + 1 };
    if (kind === "newline") this.#endsStatement = false;
    return { kind, text: this.#text.slice(start, end), start, end, position };
  }

  #advance(kind: TokenKind, end: number): Token {
    const token = this.#token(kind, end);
    if (kind === "invalid") this.#passLineBreaks(end - this.#offset);
    this.#offset = end;
    this.#endsStatement = kind === "word" || ["}", ")", "*"].includes(token.text);
    return token;
  }

  /** Skips text with line breaks, and counts them; "\r\n" is one break. */
  #passLineBreaks(length: number): void {
    const end = this.#offset + length;
    while (this.#offset < end) {
      const character = this.#text[this.#offset++];
      const breaks =
        character === "\n" || (character === "\r" && this.#text[this.#offset] !== "\n");
      if (!breaks) continue;
      this.#line++;
      this.#lineStart = this.#offset;
    }
  }
}
