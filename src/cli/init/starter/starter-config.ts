/** The configuration of the compiler. */
export function svcAccessYaml(name: string, word: string, installed: string): string {
  return `# yaml-language-server: $schema=${installed}/schemas/svc-access.schema.json
environment: development

# The authorization model, which defines the permissions.
model: model.zed

services:
  ${name}:
    packages: [${word}.v1]
    ports: {http: 18010, grpc: 19010}
`;
}

/** The authorization model. */
export const MODEL = `definition user {}

definition service {}

definition item {
  relation owner: user
  relation viewer: user | service

  permission write = owner
  permission read = write + viewer
}
`;

/** The configuration of the process. */
export function serviceYaml(name: string, installed: string): string {
  return `# yaml-language-server: $schema=${installed}/schemas/service.schema.json
environment: \${ENVIRONMENT:-development}
service: ${name}

server:
  http:
    address: \${HTTP_ADDRESS:-127.0.0.1:18010}
  grpc:
    address: \${GRPC_ADDRESS:-127.0.0.1:19010}
  metrics:
    address: \${METRICS_ADDRESS:-127.0.0.1:19110}

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
