import { printable, printableJson } from "../../common/printable.ts";
import { formatDiagnostic } from "../../diagnostics/diagnostic.ts";
import { count, type Findings, findingsOf, paint, type ReportStyle } from "./findings.ts";
import { sarifReport } from "./sarif.ts";

/** The formats of findings, by name. */
export const REPORTS: Readonly<Record<string, (findings: Findings, style: ReportStyle) => string>> =
  {
    text: textReport,
    json: jsonReport,
    "github-actions": githubActionsReport,
    sarif: sarifReport,
  };

/** One line per finding, and a line with their number. */
function textReport({ diagnostics, rpcs }: Findings, style: ReportStyle): string {
  const lines = diagnostics.map((diagnostic) => {
    const color = diagnostic.severity === "error" ? "red" : "yellow";
    return paint(formatDiagnostic(diagnostic), color, style);
  });
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const summary = `${count(rpcs, "RPC")}: ${count(errors, "error")}, ${count(diagnostics.length - errors, "warning")}`;
  return `${[...lines, summary].join("\n")}\n`;
}

/** One JSON document: `{"findings":[{"file","line","column","rule","severity","message"}],"rpcs":N}`. */
function jsonReport({ diagnostics, rpcs }: Findings): string {
  return `${printableJson({ findings: findingsOf(diagnostics), rpcs })}\n`;
}

/** One workflow command per finding, which GitHub Actions shows next to the line. */
function githubActionsReport({ diagnostics }: Findings): string {
  return diagnostics
    .map(({ file, line, column, rule, severity, message }) => {
      const place = line === undefined ? "" : `,line=${line},col=${column ?? 1}`;
      return `::${severity} file=${property(file)}${place},title=${property(rule)}::${data(`${message} (${rule})`)}\n`;
    })
    .join("");
}

function data(text: string): string {
  return printable(text).replaceAll("%", "%25");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
