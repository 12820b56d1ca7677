import type { FieldReference } from "./field.ts";
import type { PathTemplate } from "./path-template.ts";

/** One HTTP rule of an RPC: `google.api.http` itself, or one of its additional bindings. */
export interface HttpRule {
  /** The rule's place below the RPC's option: empty, or `[11, index]` for an additional binding. */
  readonly path: readonly number[];
  /** The binding; absent if `problems` has an entry. */
  readonly binding?: HttpBinding;
  /** The errors in the rule. */
  readonly problems: readonly HttpRuleProblem[];
}

/** An error in an HTTP rule. */
export interface HttpRuleProblem {
  readonly message: string;
  /** The descriptor path of the wrong field, below the rule; empty for the whole rule. */
  readonly path: readonly number[];
}

/** A method and a path template that lead to an RPC, and how the request is read. */
export interface HttpBinding {
  /** The HTTP method; `*` for any. */
  readonly method: string;
  /** The path template as written. */
  readonly path: string;
  readonly template: PathTemplate;
  /** The request field of each variable, in the order of `template.variables`. */
  readonly fields: readonly FieldReference[];
  /** The request field that is the body; `*` for all fields that the path does not bind; absent for no body. */
  readonly body?: string;
  /** The response field that is the body; absent for the whole response. */
  readonly responseBody?: string;
}
