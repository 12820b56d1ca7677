import { UsageError } from "../../compiler/usage-error.ts";
import type { OutputFile } from "../../emit/output-file.ts";

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/**
 * What `svc-access init --service NAME` writes beside the configuration of buf: a
 * service that runs, to be changed into one's own.
 *
 * @param root the module of its proto
 * @throws UsageError where the name is not valid
 */
export function serviceStarter(name: string, root: string): readonly OutputFile[] {
  if (!NAME.test(name)) {
    throw new UsageError(`${name} is no name of a service: take lower-case letters, digits and -`);
  }
  const word = name.replaceAll("-", "_");
  const title = name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase());
  const folder = root === "." ? "" : `${root}/`;
  return [
    { name: "svc-access.yaml", content: svcAccessYaml(name, word) },
    { name: "model.zed", content: MODEL },
    { name: `${folder}${word}/v1/${word}.proto`, content: proto(name, word, title) },
    { name: "service.yaml", content: serviceYaml(name) },
    { name: "src/handlers.ts", content: handlersTs(word, title) },
    { name: "src/main.ts", content: mainTs(name, word, title) },
    { name: ".gitignore", content: "node_modules/\n*.db*\n" },
  ];
}

function svcAccessYaml(name: string, word: string): string {
  return `# yaml-language-server: $schema=node_modules/svc-access/schemas/svc-access.schema.json
environment: development

# The authorization model: what an action is checked against.
model: model.zed

services:
  ${name}:
    packages: [${word}.v1]
    ports: {http: 18010, grpc: 19010}

# What is served and is no RPC.
paths:
  - {service: ${name}, path: /healthz, exposure: PUBLIC}
  - {service: ${name}, path: /readyz, exposure: PUBLIC}
`;
}

const MODEL = `definition user {}

definition service {}

definition item {
  relation owner: user
  relation viewer: user | service

  permission write = owner
  permission read = write + viewer
}
`;

function proto(name: string, word: string, title: string): string {
  return `syntax = "proto3";

package ${word}.v1;

import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";

service ${title}Service {
  rpc GetVersion(GetVersionRequest) returns (GetVersionResponse) {
    option (google.api.http) = {get: "/v1/${name}/version"};
    option (svc.access.v1.policy) = {
      exposure: PUBLIC
      rate_limit: {
        qps: 5
        burst: 10
      }
      gateway: {publish: true}
    };
  }

  // Lists the items that the caller may read.
  rpc ListItems(ListItemsRequest) returns (ListItemsResponse) {
    option (google.api.http) = {get: "/v1/${name}/items"};
    option (svc.access.v1.policy) = {
      exposure: AUTHENTICATED
      gateway: {publish: true}
    };
  }

  rpc SetItem(SetItemRequest) returns (SetItemResponse) {
    option (google.api.http) = {
      put: "/v1/${name}/items/{item_id}"
      body: "*"
    };
    option (svc.access.v1.policy) = {
      exposure: AUTHORIZED
      authz: {
        action: "write"
        resource: "item:{item_id}"
      }
      audit: {
        event: "${word}.item.set"
        risk_level: LOW
      }
      gateway: {publish: true}
    };
  }
}

message Item {
  string item_id = 1;
  string text = 2;
  string changed_by = 3;
}

message GetVersionRequest {}
message GetVersionResponse {
  string version = 1;
}
message ListItemsRequest {}
message ListItemsResponse {
  repeated Item items = 1;
}
message SetItemRequest {
  string item_id = 1;
  string text = 2;
}
message SetItemResponse {
  Item item = 1;
}
`;
}

function serviceYaml(name: string): string {
  return `# yaml-language-server: $schema=node_modules/svc-access/schemas/service.schema.json
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
    # In development this machine is trusted; elsewhere, list the gateway's addresses:
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

function handlersTs(word: string, title: string): string {
  return `import type { AuthorizationEngine } from "svc-access/authz";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import type { ${title}ServiceHandlers } from "../gen/${word}/v1/${word}_server.ts";

/** What the service does. Who may call it is said in the proto, and checked before. */
export function handlers(engine: AuthorizationEngine): ${title}ServiceHandlers {
  const items = new Map<string, { itemId: string; text: string; changedBy: string }>();
  return {
    async getVersion() {
      return { version: "1.0.0" };
    },

    async listItems(_request, context) {
      const subject = { type: "user", id: requirePrincipal(context).subjectId };
      const { items: ids } = await engine.lookupResources(
        { resourceType: "item", permission: "read", subject },
        { signal: context.signal },
      );
      return { items: ids.map((id) => items.get(id)).filter((item) => item !== undefined) };
    },

    async setItem({ itemId, text }, context) {
      if (text === "") throw new ServiceError("INVALID_ARGUMENT", "text is required");
      const item = { itemId, text, changedBy: requirePrincipal(context).subjectId };
      items.set(itemId, item);
      return { item };
    },
  };
}
`;
}

function mainTs(name: string, word: string, title: string): string {
  return `/** The service: \`node src/main.ts [CONFIGURATION]\`. */
import {
  createAuthorizationEngine,
  loadServiceConfig,
  readRouteDocument,
  runServer,
} from "svc-access/runtime";
import { bind${title}Service } from "../gen/${word}/v1/${word}_server.ts";
import { handlers } from "./handlers.ts";

await runServer(async () => {
  const configuration = loadServiceConfig(process.argv[2] ?? "service.yaml");
  const engine = await createAuthorizationEngine(configuration.config);
  if (configuration.config.environment === "development") {
    // Somebody must be the first: without relationships nobody may write.
    const resource = { type: "item", id: "first" };
    const subject = { type: "user", id: "alice" };
    await engine.writeRelationships({
      updates: [{ operation: "TOUCH", relationship: { resource, relation: "owner", subject } }],
    });
  }
  return {
    configuration,
    engine,
    bindings: [bind${title}Service(handlers(engine))],
    routes: readRouteDocument("gen/routes/${name}.json"),
  };
});
`;
}
