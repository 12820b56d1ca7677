import type { Position } from "../position.ts";

/**
 * The kind of a token.
 *
 * - `word`: an identifier, a keyword or a number; which words are keywords depends on the `use`
 *   statements before it, so the parser tells them apart
 * - `newline`: a line break that ends a statement; other line breaks are no tokens
 * - `invalid`: what is no token; its `problem` says why
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
