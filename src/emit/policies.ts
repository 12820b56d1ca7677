import type { Api, ProtobufService } from "../api/api.ts";
import {
  type AccessPolicy,
  POLICIES_SCHEMA,
  POLICY_FORMAT_VERSION,
  type PoliciesDocument,
} from "../api/format.ts";
import { eachRpc, resolvePolicy } from "../api/resolved-policy.ts";
import { compareText } from "../diagnostics/diagnostic.ts";
import type { EmitInput, EmitResult, OutputFile } from "./output-file.ts";
import { policyDocument } from "./policy-document.ts";
import { withinColumns } from "./source-layout.ts";
import { accessTemplate, commentText, literal, uniqueName } from "./source-text.ts";

/**
 * Generates `policies.json`, and a table in TypeScript for each file with services.
 *
 * @param isWhole - whether the input has all RPCs for `policies.json`; otherwise, it is not generated
 */
export function emitPolicies({ api }: EmitInput, isWhole = true): EmitResult {
  // A run over clients only must not overwrite the `policies.json` of another run.
  const servesNothing = api.services.every(({ services }) => services.length === 0);
  const isOfClients = servesNothing && api.clients.length > 0;
  const files: OutputFile[] = isWhole && !isOfClients ? [policiesFile(api)] : [];
  for (const [file, services] of servicesByFile(api.services.flatMap(({ services }) => services))) {
    files.push({ name: `${accessModule(file)}.ts`, content: accessSource(file, services) });
  }
  return { files, notes: [] };
}

function policiesFile(api: Api): OutputFile {
  const rpcs = [...eachRpc(api.services)].map(({ rpc }) => rpc);
  rpcs.sort((left, right) => compareText(left.fullName, right.fullName));
  const policies = Object.fromEntries(rpcs.map((rpc) => [rpc.fullName, policyDocument(rpc)]));
  const document: PoliciesDocument = {
    $schema: POLICIES_SCHEMA,
    formatVersion: POLICY_FORMAT_VERSION,
    policies,
  };
  return { name: "policies.json", content: `${JSON.stringify(document, undefined, 2)}\n` };
}

/** The module of a file's policies, without an extension: `hub/skills/v1/skills_access`. */
export function accessModule(file: string): string {
  return `${file.replace(/\.proto$/, "")}_access`;
}

/** The protobuf services of each file, in declaration order. */
export function servicesByFile(
  services: readonly ProtobufService[],
): [string, ProtobufService[]][] {
  const files = new Map<string, ProtobufService[]>();
  for (const service of services) {
    const siblings = files.get(service.file);
    if (siblings === undefined) files.set(service.file, [service]);
    else siblings.push(service);
  }
  return [...files].sort(([left], [right]) => compareText(left, right));
}

/** The table of all services of a file. */
const FILE_POLICIES = "accessPolicies";

function accessSource(file: string, services: readonly ProtobufService[]): string {
  const names = accessNames(services);
  const all = [...names.values()];
  const source = accessTemplate({
    file: commentText(file),
    policies: FILE_POLICIES,
    onlyPolicies: all.length === 1 ? all[0]?.policies : undefined,
    allMethods: all.map(({ methods }) => methods).join(" | "),
    services: services.map((service) => {
      const { methods, policies, constants } = names.get(service) as ServiceAccessNames;
      return {
        fullName: service.fullName,
        methods,
        policies,
        rpcs: service.rpcs.map((rpc, index) => {
          return {
            name: rpc.name,
            fullName: rpc.fullName,
            constant: constants[index],
            policy: literal(resolvePolicy(rpc) satisfies AccessPolicy, { depth: 1, isOpen: true }),
          };
        }),
      };
    }),
  });
  return withinColumns(source);
}

/** The names that the module of a file's policies exports for one service. */
export interface ServiceAccessNames {
  /** The type of the full method names. */
  readonly methods: string;
  /** The table of policies. */
  readonly policies: string;
  /** The constant of each RPC's full method name, in order. */
  readonly constants: readonly string[];
}

/** The exported names of a file's policies, unique in the module. */
export function accessNames(
  services: readonly ProtobufService[],
): Map<ProtobufService, ServiceAccessNames> {
  // The other names that the module declares or imports.
  const taken = new Set([FILE_POLICIES, "AccessPolicies", "deepFreeze"]);
  return new Map(
    services.map((service) => {
      const names: ServiceAccessNames = {
        methods: uniqueName(`${service.name}Method`, taken),
        policies: uniqueName(`${service.name}Policies`, taken),
        constants: service.rpcs.map((rpc) => uniqueName(`${service.name}_${rpc.name}`, taken)),
      };
      return [service, names];
    }),
  );
}
