import type { Api, DeployedService, ProtobufService, Rpc } from "../api/api.ts";
import { type DeclaredPolicy, HTTP_EXTENSION, POLICY_EXTENSION } from "../api/policy.ts";
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
  /** `file:line:column` of a position, for a message that names a second place. */
  readonly placeOf: (position: Position) => string;
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
export interface RpcRule<R extends Rpc = Rpc> extends Omit<Rule, "check"> {
  checkRpc(rpc: R, report: RpcReport, context: RpcContext): void;
}

/** An RPC with an annotation that can be trusted. */
export type AnnotatedRpc = Rpc & { readonly policy: DeclaredPolicy };

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
  return ruleFor(({ services }) => groupsOf(services, ({ rpcs }) => rpcs), rule);
}

/**
 * Makes a `Rule` of a rule that checks the annotation of each RPC by itself. Most rules do, and a tree
 * that has no annotations yet is not searched for each of them.
 */
export function policyRule(rule: RpcRule<AnnotatedRpc>): Rule {
  return ruleFor(annotatedRpcs, rule);
}

/** The RPCs of a protobuf service that a rule checks. */
interface RpcGroup<R extends Rpc> {
  readonly deployed: DeployedService;
  readonly service: ProtobufService;
  readonly rpcs: readonly R[];
}

function ruleFor<R extends Rpc>(
  groups: (api: Api) => Iterable<RpcGroup<R>>,
  { checkRpc, ...facts }: RpcRule<R>,
): Rule {
  return {
    ...facts,
    check(context) {
      const report = new RpcReport();
      for (const { deployed, service, rpcs } of groups(context.api)) {
        const model = context.modelOf(deployed.name);
        const around: RpcContext = { ...context, model, service, deployed };
        for (const rpc of rpcs) {
          report.rpc = rpc;
          checkRpc(rpc, report, around);
        }
      }
      return report.findings;
    },
  };
}

/** The services with RPCs to check. */
function groupsOf<R extends Rpc>(
  services: readonly DeployedService[],
  rpcsOf: (service: ProtobufService) => readonly R[],
): RpcGroup<R>[] {
  const groups: RpcGroup<R>[] = [];
  for (const deployed of services) {
    for (const service of deployed.services) {
      const rpcs = rpcsOf(service);
      if (rpcs.length > 0) groups.push({ deployed, service, rpcs });
    }
  }
  return groups;
}

/** The cached groups of an `Api`, since most rules read them. */
const ANNOTATED = new WeakMap<Api, readonly RpcGroup<AnnotatedRpc>[]>();

function annotatedRpcs(api: Api): readonly RpcGroup<AnnotatedRpc>[] {
  const known = ANNOTATED.get(api);
  if (known !== undefined) return known;
  const groups = groupsOf(api.services, ({ rpcs }) => rpcs.filter(isAnnotated));
  ANNOTATED.set(api, groups);
  return groups;
}

function isAnnotated(rpc: Rpc): rpc is AnnotatedRpc {
  return rpc.policy !== undefined;
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
