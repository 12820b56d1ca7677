import type { Findings, ReportStyle } from "./findings.ts";
import { githubActionsReport } from "./github-actions.ts";
import { jsonReport } from "./json.ts";
import { sarifReport } from "./sarif.ts";
import { textReport } from "./text.ts";

/** The formats of findings, by name. */
export const REPORTS: Readonly<Record<string, (findings: Findings, style: ReportStyle) => string>> =
  {
    text: textReport,
    json: jsonReport,
    "github-actions": githubActionsReport,
    sarif: sarifReport,
  };
