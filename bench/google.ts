/** The largest public tree of annotated services as an input: the protos of Google's APIs. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, setExtension, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  FileDescriptorSetSchema,
  type MethodOptions,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import {
  AuthzSchema,
  Exposure,
  file_svc_access_v1_policy,
  GatewaySchema,
  PolicySchema,
  policy,
  RateLimitSchema,
} from "../examples/hub/gen/svc/access/v1/policy_pb.ts";
import { readImage } from "../src/api/descriptors/image.ts";
import { HTTP_EXTENSION } from "../src/api/policy.ts";
import type { Position } from "../src/api/position.ts";
import { eachRpc } from "../src/api/resolved-policy.ts";
import { readApi } from "../src/compiler/read/read-api.ts";
import { accessHttpRuleValid } from "../src/rules/access-http-rule-valid.ts";
import { accessRouteConflict } from "../src/rules/access-route-conflict.ts";

const VERSION = "6.0.1";

/** The cache of downloads between runs, outside the checkout. */
export const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "svc-access");

/** Fetches the protos, once, and lays them out as a module. */
export function fetchGoogleProtos(): string {
  const folder = join(CACHE, `google-proto-files-${VERSION}`);
  const tree = join(folder, "tree");
  if (existsSync(join(tree, "buf.yaml"))) return tree;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private": true}\n');
  execFileSync("npm", ["install", "--ignore-scripts", `google-proto-files@${VERSION}`], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const source = join(folder, "node_modules/google-proto-files");
  for (const name of ["google", "grafeas"]) {
    cpSync(join(source, name), join(tree, name), { recursive: true });
  }
  // buf has these built in.
  rmSync(join(tree, "google/protobuf"), { recursive: true });
  writeFileSync(join(tree, "buf.yaml"), "version: v2\n");
  return tree;
}

/** What the annotated corpus is: a request for plugins, and a configuration that publishes all of it. */
export interface AnnotatedCorpus {
  readonly request: Uint8Array;
  readonly config: string;
  readonly rpcs: number;
  /** RPCs that were left without a binding, since theirs is wrong or claimed by another. */
  readonly withoutBinding: number;
}

/** Annotates every RPC; those whose routes truly conflict are left without a binding. */
export function annotate(image: Uint8Array, parameter: string): AnnotatedCorpus {
  const unbound = rpcsWithoutBinding(image);
  const { file } = fromBinary(FileDescriptorSetSchema, image);
  const definition = file_svc_access_v1_policy.proto;
  const packages = new Set<string>();
  let rpcs = 0;
  for (const descriptor of file) {
    for (const [at, service] of descriptor.service.entries()) {
      packages.add(descriptor.package);
      for (const [index, method] of service.method.entries()) {
        rpcs++;
        method.options ??= create(MethodOptionsSchema);
        if (unbound.has(`${descriptor.name} 6.${at}.2.${index}`)) dropBinding(method.options);
        const streams = method.clientStreaming;
        setExtension(method.options, policy, policyOf(index, streams));
      }
    }
  }
  const request = create(CodeGeneratorRequestSchema, {
    parameter,
    fileToGenerate: file.map(({ name }) => name),
    protoFile: [...file, definition],
    sourceFileDescriptors: file,
  });
  return {
    request: toBinary(CodeGeneratorRequestSchema, request),
    config: configOf([...packages].sort()),
    rpcs,
    withoutBinding: unbound.size,
  };
}

function policyOf(index: number, streams: boolean) {
  const gateway = create(GatewaySchema, { publish: !streams });
  if (index % 3 === 0) return create(PolicySchema, { exposure: Exposure.AUTHENTICATED, gateway });
  const authz = create(AuthzSchema, { action: "view", resource: "skill:*" });
  const limited = index % 10 === 1;
  return create(PolicySchema, {
    exposure: Exposure.AUTHORIZED,
    authz,
    gateway,
    ...(limited ? { rateLimit: create(RateLimitSchema, { qps: 10, burst: 20 }) } : {}),
  });
}

function dropBinding(options: MethodOptions): void {
  options.$unknown = options.$unknown?.filter(({ no }) => no !== HTTP_EXTENSION) ?? [];
}

/** The places of the RPCs whose bindings the rules reject. */
function rpcsWithoutBinding(image: Uint8Array): Set<string> {
  const places = new Set<string>();
  const { api } = readApi([readImage(image, "the corpus")], undefined);
  for (const rule of [accessHttpRuleValid, accessRouteConflict]) {
    for (const { position } of rule.check({ api, modelOf: () => undefined, placeOf }))
      places.add(placeOf(position));
  }
  for (const { rpc } of eachRpc(api.services)) {
    if (rpc.http.some(({ problems }) => problems.length > 0)) places.add(placeOf(rpc.position));
  }
  return places;
}

function placeOf(position: Position): string {
  if ("line" in position) throw new Error("the corpus has no configuration");
  return `${position.file} ${position.path.slice(0, 4).join(".")}`;
}

/** Each package is a service, on a host of its own. */
function configOf(packages: readonly string[]): string {
  const name = (packageName: string) =>
    packageName
      .replace(/[^a-z0-9]+/gi, "-")
      .toLowerCase()
      .slice(-63)
      .replace(/^-+/, "");
  const services = packages.map(
    (packageName, index) =>
      `  s${index}-${name(packageName).slice(-50)}:\n    packages: [${packageName}]\n    ports: {http: 18001}\n    backend: {service: {name: api, namespace: apis}}\n`,
  );
  const frontends = packages.map(
    (packageName, index) =>
      `  f${index}:\n    host: h${index}.example.com\n    namespace: apis\n    services: [s${index}-${name(packageName).slice(-50)}]\n    client_id: c${index}\n    client_secret: {name: oidc}\n    redirect_url: https://h${index}.example.com/oauth2/callback\n    logout_path: /oauth2/logout\n`,
  );
  return `environment: bench
identity:
  issuer: https://id.example.com
  authorization_endpoint: https://id.example.com/authorize
  token_endpoint: https://id.example.com/token
  jwks_uri: https://id.example.com/jwks
edge:
  gateway: {name: edge, namespace: edge, class: envoy-gateway}
  listeners: [{name: https, port: 443, certificate: {name: tls}}]
services:
${services.join("")}frontends:
${frontends.join("")}`;
}
