import type { Position } from "../../model/schema/model.ts";

/** A failed expectation of a validation file. */
export interface Failure extends Position {
  readonly kind: "schema" | "relationship" | "assertTrue" | "assertFalse" | "validation";
  /** What the file expects. */
  readonly assertion: string;
  /** The actual result, and why; further lines explain a decision. */
  readonly message: string;
}

/** The result of a validation file. */
export interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** What was not run, with the reason. */
  readonly notRun: readonly (Position & { readonly assertion: string; readonly reason: string })[];
  /** The permissions and relations that assertions and expected relations asked for, as `type#name`. */
  readonly exercised: ReadonlySet<string>;
}
