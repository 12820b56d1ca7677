import type { Rpc } from "../../api/api.ts";
import type { DeclaredPolicy } from "../../api/policy.ts";
import type { Finding } from "../rule.ts";

/** An RPC that was there before, with the policy that it had. */
export interface ChangedRpc {
  readonly before: DeclaredPolicy;
  /** As it is now; its policy may be gone. */
  readonly rpc: Rpc;
  /** The policy that it has now. */
  readonly now: DeclaredPolicy;
}

/** A rule of `buf breaking`: what an RPC may not become. */
export interface BreakingRule {
  readonly id: string;
  /** One sentence that ends in a full stop. */
  readonly purpose: string;
  /** Finds what is weaker than before. */
  check(changed: ChangedRpc): Iterable<Finding>;
}
