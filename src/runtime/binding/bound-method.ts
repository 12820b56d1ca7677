import type { DescMethod } from "@bufbuild/protobuf";
import type { AccessPolicy } from "../access-policy.ts";
import type { HttpRoute } from "../service-binding.ts";
import type { MethodKind } from "./method-kind.ts";

/** A handler whatever its kind; `kind` of the method tells which. */
// biome-ignore lint/suspicious/noExplicitAny: the handler types meet here, and the kind tells them apart
export type AnyHandler = (request: any, context: any) => unknown;

/** An RPC, or a raw HTTP handler, with all that is needed to serve it. */
export interface BoundMethod {
  /** Its place among the methods of the server, from 0. */
  readonly index: number;
  /** The full method name, such as `hub.skills.v1.SkillService/GetSkill`; the declared path of a raw handler. */
  readonly rpc: string;
  readonly kind: MethodKind;
  /** Absent for a raw handler. */
  readonly descriptor: DescMethod | undefined;
  readonly policy: AccessPolicy;
  /** Whether a call may change anything (design.md, "The annotation"). */
  readonly isWrite: boolean;
  readonly routes: readonly HttpRoute[];
  readonly handler: AnyHandler;
}
