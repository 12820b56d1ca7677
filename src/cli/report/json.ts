import { printableJson } from "../../common/printable.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Findings } from "./findings.ts";

/** One JSON document: `{"findings":[{"file","line","column","rule","severity","message"}],"rpcs":N}`. */
export function jsonReport({ diagnostics, rpcs }: Findings): string {
  return `${printableJson({ findings: findingsOf(diagnostics), rpcs })}\n`;
}

/** Findings as every document of JSON has them. */
export function findingsOf(diagnostics: readonly Diagnostic[]) {
  return diagnostics.map(({ file, line, column, rule, severity, message }) => {
    return { file, line: line ?? null, column: column ?? null, rule, severity, message };
  });
}
