import { formatDiagnostic } from "../../diagnostics/diagnostic.ts";
import type { Findings, ReportStyle } from "./findings.ts";

const RED = "\u001b[31m";
const YELLOW = "\u001b[33m";
const RESET = "\u001b[0m";

/** A line a finding, and a line that counts them. */
export function textReport({ diagnostics, rpcs }: Findings, { colors }: ReportStyle): string {
  const lines = diagnostics.map((diagnostic) => {
    const line = formatDiagnostic(diagnostic);
    if (!colors) return line;
    return `${diagnostic.severity === "error" ? RED : YELLOW}${line}${RESET}`;
  });
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const summary = `${count(rpcs, "RPC")}: ${count(errors, "error")}, ${count(diagnostics.length - errors, "warning")}`;
  return `${[...lines, summary].join("\n")}\n`;
}

/** A number with its noun: `1 error`, `2 errors`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
