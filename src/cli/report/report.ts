import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { githubActionsReport } from "./github-actions.ts";
import { jsonReport } from "./json.ts";
import { sarifReport } from "./sarif.ts";
import { textReport } from "./text.ts";

/** What a report tells. */
export interface Findings {
  readonly diagnostics: readonly Diagnostic[];
  /** How many RPCs were judged. */
  readonly rpcs: number;
}

/** How a report looks. */
export interface ReportStyle {
  /** Whether the output is a terminal that shows colours. */
  readonly colors: boolean;
}

/** The formats of findings, by name. */
export const REPORTS: Readonly<Record<string, (findings: Findings, style: ReportStyle) => string>> =
  {
    text: textReport,
    json: jsonReport,
    "github-actions": githubActionsReport,
    sarif: sarifReport,
  };
