import type {
  Api,
  DeclaredPath,
  DeployedService,
  HttpBinding,
  IdempotencyLevel,
  Rpc,
  StreamKind,
} from "../../../src/api/api.ts";
import { parsePathTemplate } from "../../../src/api/path-template.ts";
import type { Exposure } from "../../../src/api/policy.ts";
import { deploy } from "../../../src/compiler/read/deploy.ts";
import type { PlatformConfig } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import type { EmitInput } from "../../../src/emit/output-file.ts";

/** An RPC in short: `hub.skills.v1.SkillService/GetSkill`, its bindings and its policy. */
export interface RpcSpec {
  readonly rpc: string;
  /** `GET /v1/skills/{skill_id}`. */
  readonly http?: readonly string[];
  readonly exposure?: Exposure;
  readonly publish?: boolean;
  readonly limit?: { readonly qps: number; readonly burst?: number };
  readonly stream?: StreamKind;
  readonly idempotency?: IdempotencyLevel;
  readonly redactedRequest?: true;
}

/** An input of emitters, from the text of a configuration and short forms of RPCs. */
export function buildInput(yaml: string, rpcs: readonly RpcSpec[]): EmitInput {
  const result = loadConfig(yaml, "svc-access.yaml", {});
  if (result.loaded === undefined) throw new Error(JSON.stringify(result.diagnostics));
  const byService = new Map<string, Rpc[]>();
  for (const spec of rpcs) {
    const service = spec.rpc.split("/")[0] as string;
    byService.set(service, [...(byService.get(service) ?? []), buildRpc(spec)]);
  }
  const services = [...byService].map(([fullName, members]) => {
    const dot = fullName.lastIndexOf(".");
    return {
      name: fullName.slice(dot + 1),
      fullName,
      package: fullName.slice(0, dot),
      file: "test.proto",
      rpcs: members,
    };
  });
  return { api: deploy(services, result.loaded), config: result.loaded.config };
}

function buildRpc(spec: RpcSpec): Rpc {
  const { rpc, http = [], exposure = "AUTHENTICATED", publish = true, limit, stream } = spec;
  return {
    name: rpc.split("/")[1] as string,
    fullName: rpc,
    stream: stream ?? "unary",
    request: "test.Request",
    response: "test.Response",
    idempotency: spec.idempotency ?? "IDEMPOTENCY_UNKNOWN",
    deprecated: false,
    ...(spec.redactedRequest === undefined ? {} : { redactedRequest: true }),
    policy: {
      exposure,
      gateway: { publish, methods: [] },
      ...(limit === undefined ? {} : { rateLimit: limit }),
      ...(exposure === "AUTHORIZED" ? { authz: { action: "view", resource: "project:*" } } : {}),
    },
    ...(exposure === "AUTHORIZED"
      ? { resource: { template: { type: "project", id: "*" as const }, fields: [] } }
      : {}),
    http: http.map((rule) => ({ path: [], binding: buildBinding(rule), problems: [] })),
    position: { file: "test.proto", path: [] },
  };
}

/** A binding from `GET /v1/skills/{skill_id}`. */
export function buildBinding(rule: string): HttpBinding {
  const [method, path] = rule.split(" ") as [string, string];
  const { template, error } = parsePathTemplate(path);
  if (template === undefined) throw new Error(`${path}: ${error}`);
  return { method, path, template, fields: [] };
}

/** The same input in another order, as another build might read it. */
export function reversed({ api, config }: EmitInput): EmitInput {
  const flip = <Value>(values: readonly Value[]): Value[] => [...values].reverse();
  const flipped: Api = {
    clients: flip(api.clients),
    unassigned: flip(api.unassigned),
    services: flip(api.services).map((service): DeployedService => {
      const services = flip(service.services).map((each) => ({ ...each, rpcs: flip(each.rpcs) }));
      return { ...service, services, paths: flip<DeclaredPath>(service.paths) };
    }),
    hosts: flip(api.hosts).map((host) => {
      const frontends = flip(host.frontends).map((frontend) => {
        return { ...frontend, services: flip(frontend.services), paths: flip(frontend.paths) };
      });
      return { ...host, frontends };
    }),
  };
  return { api: flipped, config: config as PlatformConfig };
}
