import type { Diagnostic } from "../../diagnostics/diagnostic.ts";

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
