import type { RpcSpec } from "./build-input.ts";

/** A platform of two services, two frontends and every kind of backend. */
export const SAMPLE_CONFIG = `
environment: production
identity:
  issuer: https://id.example.com
  authorization_endpoint: https://id.example.com/login/oauth/authorize
  token_endpoint: http://casdoor.identity.svc.cluster.local:8000/api/login/oauth/access_token
  end_session_endpoint: https://id.example.com/api/logout
  jwks_uri: http://casdoor.identity.svc.cluster.local:8000/.well-known/jwks
  allowed_owners: [acme, "no"]
  subject_type_claim: subject_type
edge:
  gateway: { name: edge, namespace: edge-system, class: envoy }
  listeners:
    - { name: https, port: 443, certificate: { name: wildcard-tls, namespace: certificates } }
services:
  hub:
    packages: [hub.skills.v1]
    ports: { http: 18001, grpc: 19001 }
    backend: { service: { name: hub, namespace: hub } }
  iam:
    packages: [svc.iam.v1]
    ports: { http: 18080, grpc: 19080 }
    backend: { backend: { name: iam, namespace: iam, endpoints: [{ address: 10.0.0.7, port: 18080 }] } }
    authn_mode: hybrid
  feed:
    packages: [hub.feed.v1]
    ports: { grpc: 19002 }
    backend: { service: { name: feed, namespace: hub } }
    published_as: grpc
frontends:
  hub-web:
    host: hub.example.com
    namespace: hub
    services: [hub, feed]
    client_id: 6b1f1d6e-3f0f-4a57-9c65-7f6d0f0a0001
    client_secret: { name: hub-oidc }
    redirect_url: https://hub.example.com/v1/authn/exchange
    logout_path: /v1/authn/logout
    allowed_origins: [https://app.example.com]
    backend: { service: { name: hub-web, namespace: hub, port: 3000 } }
  iam-web:
    host: iam.example.com
    namespace: iam
    services: [iam]
    client_id: 6b1f1d6e-3f0f-4a57-9c65-7f6d0f0a0002
    client_secret: { name: iam-oidc, namespace: secrets }
    redirect_url: https://iam.example.com/v1/iam/oauth2/callback
    logout_path: /v1/iam/logout
    claims: console
    backend: { service: { name: iam-web, namespace: web, port: 3001 } }
paths:
  - { service: hub, path: /healthz, exposure: PUBLIC }
  - { service: hub, path: /readyz, exposure: PUBLIC }
  - { service: iam, path: /healthz, exposure: PUBLIC }
  - { service: iam, path: /readyz, exposure: PUBLIC }
  - { frontend: iam-web, path: /v1/iam/oauth2/callback, exposure: PUBLIC }
  - { frontend: hub-web, path: /assets, match: prefix, methods: [GET, HEAD], exposure: PUBLIC }
`;

/** The RPCs of the sample. */
export const SAMPLE_RPCS: readonly RpcSpec[] = [
  { rpc: "hub.skills.v1.SkillService/ListSkills", http: ["GET /v1/skills"] },
  {
    rpc: "hub.skills.v1.SkillService/GetSkill",
    http: ["GET /v1/skills/{skill_id}"],
    exposure: "AUTHORIZED",
  },
  {
    rpc: "hub.skills.v1.SkillService/GetFeatured",
    http: ["GET /v1/{kind}/featured:list"],
    exposure: "PUBLIC",
  },
  {
    rpc: "hub.skills.v1.SkillService/PublishSkill",
    http: ["POST /v1/skills/{skill_id}:publish"],
    exposure: "AUTHORIZED",
    limit: { qps: 5, burst: 10 },
  },
  {
    rpc: "hub.skills.v1.SkillService/WatchSkills",
    http: ["GET /v1/skills:watch"],
    stream: "server_streaming",
  },
  { rpc: "hub.skills.v1.SkillService/Reindex", publish: false, exposure: "INTERNAL" },
  { rpc: "hub.feed.v1.FeedService/Follow", stream: "bidi_streaming" },
  { rpc: "svc.iam.v1.IAMAuthService/GetMe", http: ["GET /v1/iam/me"] },
  {
    rpc: "svc.iam.v1.IAMAuthService/BuildLoginURL",
    http: ["GET /v1/iam/login-url"],
    exposure: "PUBLIC",
    limit: { qps: 20 },
  },
];
