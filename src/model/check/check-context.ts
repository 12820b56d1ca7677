import type { Model } from "../model.ts";
import type { Report } from "../reporter.ts";
import type { findWildcards } from "./find-wildcards.ts";

/** What a check works on. */
export interface CheckContext {
  readonly model: Model;
  /** Statements of unknown content; see `SchemaSyntax.broken`. */
  readonly broken: ReadonlySet<object>;
  /** The wildcard that each relation accepts, directly or through usersets; see `findWildcards`. */
  readonly wildcards: ReturnType<typeof findWildcards>;
  readonly report: Report;
}
