import type { LayerRules } from "./find-problems.ts";

const GROUND = ["common", "diagnostics", "gen"];
const SHARED = [...GROUND, "model", "api", "config"];

/**
 * The layers of `src` (docs/architecture.md): folders depend downwards only. The server's side
 * (`database`, `authz`, `runtime`) and the compiler's (`rules`, `emit`, `compiler`, `plugin`,
 * `cli`) do not import each other; `cli` decides checks with an engine of `authz`.
 */
export const RULES: LayerRules = {
  layers: {
    gen: [],
    common: ["gen"],
    diagnostics: ["common", "gen"],
    model: GROUND,
    api: GROUND,
    config: [...GROUND, "api"],
    database: GROUND,
    authz: [...GROUND, "model", "database"],
    runtime: [...SHARED, "database", "authz"],
    rules: SHARED,
    emit: SHARED,
    compiler: [...SHARED, "rules", "emit"],
    plugin: [...SHARED, "rules", "emit", "compiler"],
    cli: [...SHARED, "rules", "emit", "compiler", "plugin", "authz"],
    operator: [...SHARED, "database", "authz", "runtime"],
    clients: ["gen", "runtime"],
    iam: [...GROUND, "runtime", "clients"],
    testing: [...SHARED, "database", "authz", "runtime"],
  },
  generated: { layer: "clients", files: /^src\/gen\/.*_(client|server)\.ts$/ },
  // docs/architecture.md, "The runtime".
  lines: {
    "src/runtime": [
      ["server"],
      ["rpc-over-http", "revocation"],
      ["http", "client", "removals"],
      ["grpc", "observers", "idempotency"],
      ["rpc", "port", "registry", "authn", "rate-limit", "authorization", "audit", "jobs"],
      ["chain", "json", "http2", "resource", "tls"],
      ["call", "wire", "configuration"],
      ["error", "secret"],
      ["binding", "peer", "logging", "events"],
    ],
    // docs/architecture.md, "svc-iam".
    "services/iam/src": [
      ["commands"],
      ["account", "bootstrap"],
      ["api"],
      ["rights"],
      ["identity"],
      ["login"],
      ["provider"],
      ["config"],
      ["people"],
      ["pages"],
      ["ground"],
    ],
  },
  mostFiles: 25,
  // The files of a package are as many as its protos.
  listFolders: [
    "src/rules",
    "src/gen/proto/svc/iam/v1",
    "services/iam/gen/svc/iam/v1",
    "test/rules",
  ],
};
