import type { Rpc } from "../../api/api.ts";
import type { DeclaredPolicy } from "../../api/policy.ts";
import type { Finding } from "../rule.ts";

/** An RPC that existed before, with its former policy. */
export interface ChangedRpc {
  readonly before: DeclaredPolicy;
  /** The RPC now; it may have no policy. */
  readonly rpc: Rpc;
  /** Its policy now. */
  readonly now: DeclaredPolicy;
}

/** A rule of `buf breaking`: a change that weakens an RPC's policy. */
export interface BreakingRule {
  readonly id: string;
  /** One sentence that ends in a full stop. */
  readonly purpose: string;
  /** Finds what is weaker than before. */
  check(changed: ChangedRpc): Iterable<Finding>;
}
