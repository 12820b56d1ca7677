import { UsageError } from "../../../diagnostics/usage-error.ts";
import type { OutputFile } from "../../../emit/output-file.ts";
import type { GeneratedCode } from "./generated-code.ts";
import { handlersTestTs, handlersTs, mainTs, serviceTestTs } from "./starter-code.ts";
import type { StarterPorts } from "./starter-ports.ts";
import { starterProto } from "./starter-proto.ts";

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/**
 * The files that `svc-access init --service NAME` writes in addition to the buf
 * configuration: a running service as a starting point.
 *
 * @param root - the module of its proto
 * @param installed - the path of this package, relative to the repository
 * @param gen - the location of the generated code
 * @throws UsageError if the name is not valid
 */
export function serviceStarter(
  name: string,
  root: string,
  installed: string,
  gen: GeneratedCode,
  ports: StarterPorts,
): readonly OutputFile[] {
  if (!NAME.test(name)) {
    throw new UsageError(
      `${name} is not a valid service name: use lower-case letters, digits and -`,
    );
  }
  const word = name.replaceAll("-", "_");
  const title = name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase());
  const folder = root === "." ? "" : `${root}/`;
  return [
    { name: "svc-access.yaml", content: svcAccessYaml(name, word, installed, ports) },
    { name: "model.zed", content: MODEL },
    { name: `${folder}${word}/v1/${word}.proto`, content: starterProto(name, word, title) },
    { name: "service.yaml", content: serviceYaml(name, installed, ports) },
    { name: "src/handlers.ts", content: handlersTs(word, title, gen) },
    { name: "src/main.ts", content: mainTs(name, word, title, gen) },
    { name: "test/handlers.test.ts", content: handlersTestTs(word, gen) },
    { name: "test/service.test.ts", content: serviceTestTs(name, word, title, gen) },
    { name: ".gitignore", content: "node_modules/\n*.db*\n" },
  ];
}

/** The configuration of the compiler. */
function svcAccessYaml(
  name: string,
  word: string,
  installed: string,
  { http, grpc }: StarterPorts,
): string {
  return `# yaml-language-server: $schema=${installed}/schemas/svc-access.schema.json
environment: development

# The authorization model, which defines the permissions.
model: model.zed

services:
  ${name}:
    packages: [${word}.v1]
    ports: {http: ${http}, grpc: ${grpc}}
`;
}

/** The authorization model. */
const MODEL = `definition user {}

definition service {}

definition item {
  relation owner: user
  relation viewer: user | service

  permission manage = owner
  permission write = manage
  permission read = write + viewer
}
`;

/** The configuration of the process. */
function serviceYaml(
  name: string,
  installed: string,
  { http, grpc, metrics }: StarterPorts,
): string {
  return `# yaml-language-server: $schema=${installed}/schemas/service.schema.json
environment: \${ENVIRONMENT:-development}
service: ${name}

server:
  http:
    address: \${HTTP_ADDRESS:-127.0.0.1:${http}}
  grpc:
    address: \${GRPC_ADDRESS:-127.0.0.1:${grpc}}
  metrics:
    address: \${METRICS_ADDRESS:-127.0.0.1:${metrics}}

security:
  authn:
    # In development, this machine is trusted; elsewhere, list the addresses of the gateway:
    # gateway: {trusted_peers: [10.42.0.0/16]}
    mode: gateway_trusted
  authz:
    provider: embedded
    model: model.zed

database:
  driver: sqlite
  file: \${DATA:-.}/${name}.db
`;
}
