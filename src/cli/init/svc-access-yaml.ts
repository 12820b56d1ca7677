/**
 * The platform configuration of a repository without a service to start from.
 *
 * @param installed where this package is, relative to the repository
 */
export function svcAccessYaml(installed: string): string {
  return `# yaml-language-server: $schema=${installed}/schemas/svc-access.schema.json
environment: development

# The authorization model: what an action is checked against.
model: ${installed}/model/iam.zed

# What is deployed as one process, and the protobuf packages that it serves.
# Without services, each package is one.
#
# services:
#   orders:
#     packages: [acme.orders.v1]
#     ports: {http: 18001, grpc: 19001}
`;
}
