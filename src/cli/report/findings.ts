import { printableLines } from "../../common/printable.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";

/** The content of a report. */
export interface Findings {
  readonly diagnostics: readonly Diagnostic[];
  /** The number of checked RPCs. */
  readonly rpcs: number;
}

/** The style of a report. */
export interface ReportStyle {
  /** Whether the output is a terminal that shows colours. */
  readonly colors: boolean;
}

/** Whether a stream is a terminal with colours enabled (see no-color.org). */
export function showsColors(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}

const CODES = { red: "\u001b[31m", green: "\u001b[32m", yellow: "\u001b[33m" } as const;
const RESET = "\u001b[0m";

/** A line, and any lines below it, made printable, and coloured if the output shows colours. */
export function paint(
  line: string,
  color: keyof typeof CODES | undefined,
  { colors }: ReportStyle,
): string {
  const text = printableLines(line);
  return colors && color !== undefined ? `${CODES[color]}${text}${RESET}` : text;
}

/** A number with its noun: `1 error`, `2 errors`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Findings as in every JSON document. */
export function findingsOf(diagnostics: readonly Diagnostic[]) {
  return diagnostics.map(({ file, line, column, rule, severity, message }) => {
    return { file, line: line ?? null, column: column ?? null, rule, severity, message };
  });
}
