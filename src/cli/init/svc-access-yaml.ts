/**
 * The platform configuration of a repository without a service to start from.
 *
 * @param installed - the path of this package, relative to the repository
 */
export function svcAccessYaml(installed: string): string {
  return `# yaml-language-server: $schema=${installed}/schemas/svc-access.schema.json
environment: development

# The authorization model, which defines the permissions.
model: ${installed}/model/iam.zed

# The deployed services and their protobuf packages.
# Without this list, each package is its own service.
#
# services:
#   orders:
#     packages: [acme.orders.v1]
#     ports: {http: 18001, grpc: 19001}
`;
}
