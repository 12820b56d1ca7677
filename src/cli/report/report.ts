import { printable, printableJson, printableJsonText } from "../../common/printable.ts";
import { version } from "../../common/version.ts";
import { type Diagnostic, formatDiagnostic } from "../../diagnostics/diagnostic.ts";
import { RULES } from "../../rules/index.ts";
import { count, type Findings, paint, type ReportStyle } from "./findings.ts";

/** A report in pieces: that of a large tree is longer than all else that is in memory then. */
export type Report = (findings: Findings, style: ReportStyle) => Iterable<string>;

/** The formats of findings, by name. */
export const REPORTS: Readonly<Record<string, Report>> = {
  text: textReport,
  json: jsonReport,
  "github-actions": githubActionsReport,
  sarif: (findings) => [sarifReport(findings)],
};

/** One line per finding, and a line with their number. */
function* textReport({ diagnostics, rpcs }: Findings, style: ReportStyle): Iterable<string> {
  let errors = 0;
  for (const diagnostic of diagnostics) {
    const isError = diagnostic.severity === "error";
    if (isError) errors++;
    yield `${paint(formatDiagnostic(diagnostic), isError ? "red" : "yellow", style)}\n`;
  }
  yield `${count(rpcs, "RPC")}: ${count(errors, "error")}, ${count(diagnostics.length - errors, "warning")}\n`;
}

/**
 * One JSON document: `{"findings":[{"file","line","column","rule","severity","message"}],"rpcs":N}`, indented
 * by two spaces.
 */
function* jsonReport({ diagnostics, rpcs }: Findings): Iterable<string> {
  yield '{\n  "findings": [';
  let before = "\n";
  for (const diagnostic of diagnostics) {
    yield before + jsonFinding(diagnostic);
    before = ",\n";
  }
  yield `${diagnostics.length === 0 ? "" : "\n  "}],\n  "rpcs": ${rpcs}\n}\n`;
}

function jsonFinding({ file, line, column, rule, severity, message }: Diagnostic): string {
  return `    {
      "file": ${printableJsonText(file)},
      "line": ${line ?? null},
      "column": ${column ?? null},
      "rule": "${rule}",
      "severity": "${severity}",
      "message": ${printableJsonText(message)}
    }`;
}

/** One workflow command per finding, which GitHub Actions shows next to the line. */
function* githubActionsReport({ diagnostics }: Findings): Iterable<string> {
  for (const { file, line, column, rule, severity, message } of diagnostics) {
    const place = line === undefined ? "" : `,line=${line},col=${column ?? 1}`;
    yield `::${severity} file=${property(file)}${place},title=${property(rule)}::${data(`${message} (${rule})`)}\n`;
  }
}

function data(text: string): string {
  return printable(text).replaceAll("%", "%25");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** A SARIF 2.1.0 log, which code-scanning services read. */
export function sarifReport({ diagnostics }: Findings): string {
  const ids = new Map(RULES.map(({ id, purpose }) => [id, purpose]));
  // Findings in the model have their own rules.
  for (const { rule } of diagnostics) if (!ids.has(rule)) ids.set(rule, "");
  const indices = new Map([...ids.keys()].map((id, index) => [id, index]));
  const rules = [...ids].map(([id, purpose]) =>
    purpose === "" ? { id } : { id, shortDescription: { text: purpose } },
  );
  const results = diagnostics.map(({ file, line, column, rule, severity, message }) => {
    const region =
      line === undefined ? {} : { region: { startLine: line, startColumn: column ?? 1 } };
    return {
      ruleId: rule,
      ruleIndex: indices.get(rule),
      level: severity,
      message: { text: printable(message) },
      locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, ...region } }],
    };
  });
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "svc-access", version, rules } },
        columnKind: "utf16CodeUnits",
        results,
      },
    ],
  };
  return `${printableJson(log)}\n`;
}

function uriOf(file: string): string {
  return file.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
}
