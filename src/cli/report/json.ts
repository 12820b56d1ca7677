import { printableJson } from "../../common/printable.ts";
import type { Findings } from "./findings.ts";

/** One JSON document: `{"findings":[{"file","line","column","rule","severity","message"}],"rpcs":N}`. */
export function jsonReport({ diagnostics, rpcs }: Findings): string {
  const findings = diagnostics.map(({ file, line, column, rule, severity, message }) => {
    return { file, line: line ?? null, column: column ?? null, rule, severity, message };
  });
  return `${printableJson({ findings, rpcs })}\n`;
}
