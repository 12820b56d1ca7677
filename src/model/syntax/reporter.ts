import { compareDiagnostics, type Diagnostic } from "../../diagnostics/diagnostic.ts";
import { didYouMean } from "../../diagnostics/nearest.ts";
import type { Position } from "../schema/model.ts";
import { MODEL_RULES, type ModelRule } from "./model-rules.ts";

/** The maximum number of diagnostics; after them, the report only states that there are more. */
const MAX_DIAGNOSTICS = 1_000;

/** Reports a violation of a rule at a position; the parameters are those of the rule's message. */
export type Report = <Rule extends ModelRule>(
  rule: Rule,
  position: Position,
  ...parameters: Parameters<(typeof MODEL_RULES)[Rule]>
) => void;

/** Collects the diagnostics of one file. */
export class Reporter {
  readonly #file: string;
  readonly #diagnostics = new Map<string, Diagnostic>();
  #full = false;

  constructor(file: string) {
    this.#file = file;
  }

  readonly report: Report = (rule, position, ...parameters) => {
    if (this.#diagnostics.size < MAX_DIAGNOSTICS) {
      const message = MODEL_RULES[rule] as (...parameters: unknown[]) => string;
      this.#add(rule, position, message(...parameters));
    } else if (!this.#full) {
      this.#full = true;
      const message = MODEL_RULES.MODEL_TOO_MANY_ERRORS(MAX_DIAGNOSTICS);
      this.#add("MODEL_TOO_MANY_ERRORS", position, message);
    }
  };

  /** The reported diagnostics, in the order of the text. */
  diagnostics(): Diagnostic[] {
    return [...this.#diagnostics.values()].sort(compareDiagnostics);
  }

  #add(rule: ModelRule, position: Position, message: string): void {
    const { line, column } = position;
    // A partial that several definitions include is checked in each; its errors are reported once.
    const key = `${line}:${column}:${message}`;
    if (this.#diagnostics.has(key)) return;
    this.#diagnostics.set(key, {
      rule,
      severity: "error",
      message,
      file: this.#file,
      line,
      column,
    });
  }
}

/** Longer names are not misspellings of valid ones, and comparing them would take long. */
const MAX_SUGGESTION_LENGTH = 64;
const MAX_SUGGESTION_CANDIDATES = 500;

/** `didYouMean`, with limits, so that a hostile file does not take long. */
export function suggest(name: string, candidates: Iterable<string>): string {
  if (name.length > MAX_SUGGESTION_LENGTH) return "";
  const few: string[] = [];
  for (const candidate of candidates) {
    if (few.length === MAX_SUGGESTION_CANDIDATES) break;
    few.push(candidate);
  }
  return didYouMean(name, few);
}
