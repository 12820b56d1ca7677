import { printable } from "../common/printable.ts";

/** The severity of a diagnostic: an error stops generation, a warning does not. */
export type Severity = "error" | "warning";

/**
 * One finding, with its position in the source file.
 *
 * Diagnostics are collected and never thrown, so that all of them are reported.
 */
export interface Diagnostic {
  /** The identifier of the rule, such as `ACCESS_POLICY_REQUIRED`. */
  readonly rule: string;
  /** Whether it stops what was asked for. */
  readonly severity: Severity;
  /** The problem and its fix, in one line without a full stop. */
  readonly message: string;
  /** The path of the file, as the input names it. */
  readonly file: string;
  /** The line, from 1; absent if the input carries no source positions. */
  readonly line?: number;
  /** The column, from 1. */
  readonly column?: number;
}

/** Orders diagnostics by file, line, column and rule, so that reports are stable. */
export function compareDiagnostics(left: Diagnostic, right: Diagnostic): number {
  return (
    compareText(left.file, right.file) ||
    (left.line ?? 0) - (right.line ?? 0) ||
    (left.column ?? 0) - (right.column ?? 0) ||
    compareText(left.rule, right.rule) ||
    compareText(left.message, right.message)
  );
}

/** Compares text by UTF-16 code unit, independent of the locale. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A place as compilers print it: `file:line:column`, or the file alone without source positions. */
export function placeText({
  file,
  line,
  column,
}: Pick<Diagnostic, "file" | "line" | "column">): string {
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}

/** A diagnostic as one line: `file:line:column: message (RULE)`, as compilers print it. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { severity, message, rule } = diagnostic;
  const warning = severity === "warning" ? "warning: " : "";
  return printable(`${placeText(diagnostic)}: ${warning}${message} (${rule})`);
}
