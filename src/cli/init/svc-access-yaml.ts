/** The platform configuration of a repository without a service to start from. */
export const SVC_ACCESS_YAML = `# yaml-language-server: $schema=node_modules/svc-access/schemas/svc-access.schema.json
environment: development

# The authorization model: what an action is checked against.
model: node_modules/svc-access/model/iam.zed

# What is deployed as one process, and the protobuf packages that it serves.
# Without services, each package is one.
#
# services:
#   orders:
#     packages: [acme.orders.v1]
#     ports: {http: 18001, grpc: 19001}
`;
