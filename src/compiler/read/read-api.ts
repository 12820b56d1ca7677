import type { Api, HttpRule, PolicyProblem, ProtobufService, Rpc } from "../../api/api.ts";
import {
  DescriptorError,
  type DescriptorFile,
  type FileOutline,
  readFileOutline,
} from "../../api/descriptors/file-outline.ts";
import { Locator } from "../../api/descriptors/locator.ts";
import { MessageIndex } from "../../api/descriptors/message-index.ts";
import type { MethodOutline } from "../../api/descriptors/method-outline.ts";
import type { DescriptorPosition } from "../../api/position.ts";
import { unknownFields } from "../../api/read/annotation/unknown-fields.ts";
import {
  type InputProblems,
  verifyDefinitions,
} from "../../api/read/annotation/verify-definitions.ts";
import { readHttpRules } from "../../api/read/http-reader.ts";
import { type FileCopy, mergeInputs } from "../../api/read/merge-inputs.ts";
import { readPolicy, readResource } from "../../api/read/policy-reader.ts";
import { mayGet } from "../../api/resolved-policy.ts";
import type { LoadedConfig } from "../../config/load-config.ts";
import { compareText } from "../../diagnostics/diagnostic.ts";
import { deploy } from "./deploy.ts";
import { PackageOwners } from "./package-owners.ts";

/** An `Api` and the positions of its parts. */
export interface ReadApi {
  readonly api: Api;
  readonly locator: Locator;
  /** The number of RPCs that the targets declare, without those that are only called. */
  readonly rpcs: number;
  /** All files by name; the server target needs them in addition to the `Api`. */
  readonly files: readonly FileOutline[];
  readonly messages: MessageIndex;
}

/**
 * Reads descriptors from any source into an `Api`.
 *
 * @param inputs - the files of each input; several are read as one platform
 * @param config - the platform configuration, which says what is deployed where
 * @throws DescriptorError if a file cannot be read, or two inputs declare
 * a file or a service differently.
 */
export function readApi(
  inputs: readonly (readonly DescriptorFile[])[],
  config: LoadedConfig | undefined,
): ReadApi {
  const copies = inputs.map((files) =>
    files.map(
      (file): FileCopy => ({
        outline: readFileOutline(file),
        bytes: file.bytes,
        ...(file.input === undefined ? {} : { input: file.input }),
      }),
    ),
  );
  const inputProblems = verifyDefinitions(
    copies.map((files) => files.map(({ outline }) => outline)),
  );
  const owners = new PackageOwners(config?.config);
  const isServed = (packageName: string) => {
    const { kind } = owners.roleOf(packageName);
    return kind !== "client" && kind !== "shipped";
  };
  const files = mergeInputs(copies, isServed);
  const messages = new MessageIndex(files);
  const locator = new Locator();
  const services: ProtobufService[] = [];
  const declaredIn = new Map<string, string>();
  let rpcs = 0;
  for (const file of files) {
    if (!file.target) continue;
    if (file.sourceInfo !== undefined) locator.add(file.name, file.sourceInfo);
    const isChecked = isServed(file.package);
    const problems = inputProblems.get(file.name) ?? {};
    for (const service of readServices(file, problems, messages, isChecked)) {
      const other = declaredIn.get(service.fullName);
      if (other !== undefined) {
        throw new DescriptorError(
          `the service ${service.fullName} is declared in ${other} and in ${file.name}; rename one, or leave one input out`,
        );
      }
      declaredIn.set(service.fullName, file.name);
      services.push(service);
      if (isChecked) rpcs += service.rpcs.length;
    }
  }
  services.sort((left, right) => compareText(left.fullName, right.fullName));
  return { api: deploy(services, config), locator, rpcs, files, messages };
}

function* readServices(
  file: FileOutline,
  inputProblems: InputProblems,
  messages: MessageIndex,
  isChecked: boolean,
): Iterable<ProtobufService> {
  const prefix = file.package === "" ? "" : `${file.package}.`;
  for (const [serviceIndex, service] of file.services.entries()) {
    const fullName = prefix + service.name;
    const rpcs = service.methods.map((method, methodIndex) => {
      const path = [6, serviceIndex, 2, methodIndex];
      try {
        // The policies of RPCs that others serve are not used here.
        const own = isChecked ? method : calledOnly(method, file);
        const problems = isChecked ? policyProblems(method, inputProblems) : [];
        const rpcName = `${fullName}/${method.name}`;
        const http = httpRulesOf(own, inputProblems, messages);
        return readRpc(own, rpcName, problems, { file: file.name, path }, http, messages);
      } catch (error) {
        if (error instanceof DescriptorError) throw error;
        throw new DescriptorError(
          `the options of ${fullName}/${method.name} cannot be read: ${(error as Error).message}`,
        );
      }
    });
    yield { name: service.name, fullName, package: file.package, file: file.name, rpcs };
  }
}

/** The parts of an RPC that a client needs. A policy that cannot be read is left out. */
function calledOnly(method: MethodOutline, { conflict }: FileOutline): MethodOutline {
  // Its routes are unknown; code that needs them reports the conflict.
  if (conflict !== undefined) return { ...method, policy: [], http: [] };
  try {
    readPolicy(method.policy);
    return method;
  } catch {
    return { ...method, policy: [] };
  }
}

function readRpc(
  method: MethodOutline,
  fullName: string,
  problems: readonly PolicyProblem[],
  position: DescriptorPosition,
  http: readonly HttpRule[],
  messages: MessageIndex,
): Rpc {
  const { name, request, response, stream, idempotency, deprecated } = method;
  const policy = problems.length === 0 ? readPolicy(method.policy) : undefined;
  const resource = policy?.authz?.resource;
  const auditResource = policy?.audit?.resource;
  const scope = { request, http, messages };
  const rpc: Rpc = {
    name,
    fullName,
    stream,
    request,
    response,
    idempotency,
    deprecated,
    http,
    position,
    ...(problems.length === 0 ? {} : { policyProblems: problems }),
    ...(policy === undefined ? {} : { policy }),
    ...(resource === undefined ? {} : { resource: readResource(resource, scope) }),
    ...(auditResource === undefined ? {} : { auditResource: readResource(auditResource, scope) }),
  };
  const mayStandInQuery = policy?.gateway?.publish === true && mayGet(rpc);
  return mayStandInQuery && messages.holdsRedacted(request)
    ? { ...rpc, redactedRequest: true }
    : rpc;
}

/** The HTTP rules of an RPC; a single rule with an error if the input gives them another meaning. */
function httpRulesOf(
  { http, request, response }: MethodOutline,
  { http: problem }: InputProblems,
  messages: MessageIndex,
): HttpRule[] {
  if (problem !== undefined && (http.length > 0 || problem.isRenumbered)) {
    return [{ path: [], problems: [{ message: problem.message, path: [] }] }];
  }
  return readHttpRules(http, { request, response }, messages);
}

/** Why the option of an RPC cannot be read as a policy; empty if it can. */
function policyProblems(
  { policy, isPolicyForeign }: MethodOutline,
  { policy: definition, options }: InputProblems,
): PolicyProblem[] {
  if (options !== undefined) {
    return [{ message: `google.protobuf.MethodOptions: ${options.message}`, path: [] }];
  }
  const isAnnotated = policy.length > 0 || isPolicyForeign;
  if (definition !== undefined && (isAnnotated || definition.isRenumbered)) {
    return [{ message: definition.message, path: [] }];
  }
  if (isPolicyForeign) {
    return [{ message: "the option is not encoded as a message; write it again", path: [] }];
  }
  return unknownFields(policy).map(({ what, path }): PolicyProblem => {
    return { message: `this version does not know ${what}; update svc-access`, path };
  });
}
