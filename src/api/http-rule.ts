import type { FieldReference } from "./field.ts";
import type { PathTemplate } from "./path-template.ts";

/** One HTTP rule of an RPC: `google.api.http` itself, or one of its additional bindings. */
export interface HttpRule {
  /** The rule's place below the RPC's option: empty, or `[11, index]` for an additional binding. */
  readonly path: readonly number[];
  /** The binding; absent where `problems` has an entry. */
  readonly binding?: HttpBinding;
  /** What is wrong with the rule. */
  readonly problems: readonly HttpRuleProblem[];
}

/** One thing that is wrong with an HTTP rule. */
export interface HttpRuleProblem {
  readonly message: string;
  /** The descriptor path of the field that is wrong, below the rule; empty for the rule. */
  readonly path: readonly number[];
}

/** A method and a path template that lead to an RPC, and how the request is read. */
export interface HttpBinding {
  /** The HTTP method; `*` for any. */
  readonly method: string;
  /** The path template as it is written. */
  readonly path: string;
  readonly template: PathTemplate;
  /** The request field of each variable, in the order of `template.variables`. */
  readonly fields: readonly FieldReference[];
  /** The request field that is the body; `*` for all that the path does not bind; absent for none. */
  readonly body?: string;
  /** The response field that is the body; absent for the whole response. */
  readonly responseBody?: string;
}
