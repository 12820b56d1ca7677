/** Requests of any size, to see how the cost grows. */
import { create, setExtension, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  type MethodDescriptorProto,
  MethodDescriptorProtoSchema,
  MethodOptionsSchema,
  ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { http } from "../examples/hub/gen/google/api/annotations_pb.ts";
import { HttpRuleSchema } from "../examples/hub/gen/google/api/http_pb.ts";
import {
  AuthzSchema,
  Exposure,
  file_svc_access_v1_policy,
  GatewaySchema,
  PolicySchema,
  policy,
} from "../examples/hub/gen/svc/access/v1/policy_pb.ts";

/** How many RPCs a service of the synthetic request has; a file has one service. */
const RPCS_PER_SERVICE = 50;

/** A request with so many annotated RPCs, each with a route and messages of its own. */
export function syntheticRequest(rpcs: number, parameter: string): Uint8Array {
  const protoFile = Array.from({ length: rpcs / RPCS_PER_SERVICE }, (_, file) => {
    const messageType = Array.from({ length: RPCS_PER_SERVICE * 2 }, (_, index) => {
      const side = index % 2 === 0 ? "Request" : "Response";
      return create(DescriptorProtoSchema, {
        name: `Get${Math.floor(index / 2)}${side}`,
        field: [
          {
            name: "id",
            number: 1,
            type: FieldDescriptorProto_Type.STRING,
            label: FieldDescriptorProto_Label.OPTIONAL,
            jsonName: "id",
          },
        ],
      });
    });
    const method = Array.from({ length: RPCS_PER_SERVICE }, (_, index) => rpc(file, index));
    return create(FileDescriptorProtoSchema, {
      name: `bench/p${file}/v1/service.proto`,
      package: `bench.p${file}.v1`,
      syntax: "proto3",
      messageType,
      service: [create(ServiceDescriptorProtoSchema, { name: "BenchService", method })],
    });
  });
  const request = create(CodeGeneratorRequestSchema, {
    parameter,
    fileToGenerate: protoFile.map(({ name }) => name),
    protoFile: [...protoFile, file_svc_access_v1_policy.proto],
  });
  return toBinary(CodeGeneratorRequestSchema, request);
}

function rpc(file: number, index: number): MethodDescriptorProto {
  const options = create(MethodOptionsSchema);
  setExtension(
    options,
    policy,
    create(PolicySchema, {
      exposure: Exposure.AUTHORIZED,
      authz: create(AuthzSchema, { action: "view", resource: "skill:{id}" }),
      gateway: create(GatewaySchema, { publish: true }),
    }),
  );
  const pattern = { case: "get", value: `/v1/p${file}/m${index}/{id}` } as const;
  setExtension(options, http, create(HttpRuleSchema, { pattern }));
  const scope = `.bench.p${file}.v1`;
  return create(MethodDescriptorProtoSchema, {
    name: `Get${index}`,
    inputType: `${scope}.Get${index}Request`,
    outputType: `${scope}.Get${index}Response`,
    options,
  });
}

/** A configuration that publishes the synthetic services on one host. */
export function syntheticConfig(rpcs: number): string {
  const packages = Array.from(
    { length: rpcs / RPCS_PER_SERVICE },
    (_, file) => `bench.p${file}.v1`,
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
  bench:
    packages: [${packages.join(", ")}]
    ports: {http: 18001}
    backend: {service: {name: bench, namespace: bench}}
frontends:
  bench:
    host: bench.example.com
    namespace: bench
    services: [bench]
    client_id: bench
    client_secret: {name: oidc}
    redirect_url: https://bench.example.com/oauth2/callback
    logout_path: /oauth2/logout
`;
}
