import { printableJson } from "../../common/printable.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { ReportStyle } from "../report/findings.ts";
import { findingsOf } from "../report/json.ts";
import { REPORTS } from "../report/report.ts";
import { count } from "../report/text.ts";

/** What the check of a model found. */
export interface ModelFindings {
  readonly diagnostics: readonly Diagnostic[];
  readonly definitions: number;
  readonly permissions: number;
}

/** Findings in a model, in the formats of `svc-access lint`, which count RPCs where these count types. */
export function formatFindings(found: ModelFindings, format: string, style: ReportStyle): string {
  const { diagnostics, definitions, permissions } = found;
  if (format === "json") {
    return `${printableJson({ findings: findingsOf(diagnostics), definitions, permissions })}\n`;
  }
  const report = REPORTS[format]?.({ diagnostics, rpcs: 0 }, style) ?? "";
  if (format !== "text") return report;
  const lines = report.split("\n").slice(0, -2);
  const summary = `${count(definitions, "definition")}, ${count(permissions, "permission")}: ${count(diagnostics.length, "error")}`;
  return `${[...lines, summary].join("\n")}\n`;
}
