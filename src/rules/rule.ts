import type { Api, DeployedService, ProtobufService, Rpc } from "../api/api.ts";
import { HTTP_EXTENSION, POLICY_EXTENSION } from "../api/policy.ts";
import type { Position } from "../api/position.ts";
import { below } from "../api/position.ts";
import type { Model } from "../model/index.ts";

/** The categories that `buf lint` selects rules by. */
export type Category = "ACCESS" | "ACCESS_RECOMMENDED";

/** A finding of a rule. */
export interface Finding {
  /** The problem and its fix, in one line. */
  readonly message: string;
  readonly position: Position;
}

/** What a rule may read. */
export interface RuleContext {
  readonly api: Api;
  readonly modelOf: ModelOf;
}

/** The authorization model that a deployed service is checked against; undefined if none is configured. */
export type ModelOf = (service: string) => Model | undefined;

/** A rule: its id, its purpose and its check. */
export interface Rule {
  readonly id: string;
  /** ACCESS findings are errors, ACCESS_RECOMMENDED findings are warnings. */
  readonly category: Category;
  /** One sentence that ends in a full stop. */
  readonly purpose: string;
  /** Whether the rule needs the authorization model; without one, it does not run. */
  readonly needsModel?: boolean;
  check(context: RuleContext): Iterable<Finding>;
}

/** The services and the model that an RPC belongs to. */
export interface RpcContext extends RuleContext {
  /** The model of the deployed service; absent if none is configured. */
  readonly model: Model | undefined;
  readonly service: ProtobufService;
  readonly deployed: DeployedService;
}

/** A rule that checks each RPC by itself. */
export interface RpcRule extends Omit<Rule, "check"> {
  checkRpc(rpc: Rpc, report: RpcReport, context: RpcContext): void;
}

/**
 * Collects the findings of a rule at RPCs, one RPC at a time. Most rules find nothing at most RPCs, so
 * no objects are created for these.
 */
export class RpcReport {
  readonly findings: Finding[] = [];
  /** The RPC that is checked now. */
  rpc: Rpc | undefined;

  /** Reports what is missing at the RPC. */
  atRpc(message: string): void {
    this.findings.push(atRpc(this.#current(), message));
  }

  /** Reports a field of the annotation, named by its field numbers. */
  atPolicy(message: string, ...path: number[]): void {
    this.findings.push(atPolicy(this.#current(), message, ...path));
  }

  /** Reports a field of `google.api.http`, named by its field numbers. */
  atHttp(message: string, ...path: number[]): void {
    this.findings.push(atHttp(this.#current(), message, ...path));
  }

  #current(): Rpc {
    if (this.rpc === undefined) throw new Error("no RPC is checked");
    return this.rpc;
  }
}

/** Makes a `Rule` of a rule that checks each RPC by itself. */
export function rpcRule(rule: RpcRule): Rule {
  const { checkRpc, ...facts } = rule;
  return {
    ...facts,
    check(context) {
      const report = new RpcReport();
      for (const deployed of context.api.services) {
        const model = context.modelOf(deployed.name);
        for (const service of deployed.services) {
          const around: RpcContext = { ...context, model, service, deployed };
          for (const rpc of service.rpcs) {
            report.rpc = rpc;
            checkRpc(rpc, report, around);
          }
        }
      }
      return report.findings;
    },
  };
}

/** The file of the model for a message, as there may be several. */
export function ofFile({ file }: Model): string {
  return file === undefined ? "" : ` (${file})`;
}

/** A finding at the RPC, for a missing option or field. */
export function atRpc(rpc: Rpc, message: string): Finding {
  return { message, position: rpc.position };
}

/** A finding at a field of the annotation, named by its field numbers. */
export function atPolicy(rpc: Rpc, message: string, ...path: number[]): Finding {
  return { message, position: below(rpc.position, METHOD_OPTIONS, POLICY_EXTENSION, ...path) };
}

/** A finding in `google.api.http`, named by its field numbers. */
export function atHttp(rpc: Rpc, message: string, ...path: number[]): Finding {
  return { message, position: below(rpc.position, METHOD_OPTIONS, HTTP_EXTENSION, ...path) };
}

/** The number of `google.protobuf.MethodDescriptorProto.options`. */
const METHOD_OPTIONS = 4;
