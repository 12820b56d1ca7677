/** A configuration with every key, as parsed from a file. */
export function fullPlatform() {
  return {
    environment: "staging",
    model: "model/iam.zed",
    identity: {
      issuer: "https://id.example.com",
      authorization_endpoint: "https://id.example.com/authorize",
      token_endpoint: "http://id.internal:8000/token",
      end_session_endpoint: "https://id.example.com/logout",
      jwks_uri: "http://id.internal:8000/jwks",
      allowed_owners: ["acme"],
      subject_type_claim: "kind",
    },
    edge: {
      gateway: { name: "edge", namespace: "edge-system", class: "envoy" },
      listeners: [
        {
          name: "https",
          port: 443,
          protocol: "HTTPS",
          hostname: "*.example.com",
          certificate: { name: "tls", namespace: "certificates" },
        },
      ],
      rate_limit: "global",
      backstop: false,
      login_timeout: "3m",
    },
    services: {
      hub: {
        packages: ["hub.skills.v1"],
        model: "model/hub.zed",
        ports: { http: 18001, grpc: 19001 },
        backend: { service: { name: "hub", namespace: "hub", port: 18001 } },
        authn_mode: "hybrid",
        published_as: "grpc",
        timeout: "1m30s",
      },
      iam: {
        packages: ["svc.iam.v1"],
        backend: {
          backend: {
            name: "iam",
            namespace: "iam",
            endpoints: [{ address: "10.0.0.7", port: 80 }],
          },
        },
        timeout: "5s",
      },
    },
    clients: ["git.v1"],
    frontends: {
      web: {
        host: "hub.example.com",
        prefix: "/app",
        namespace: "hub",
        services: ["hub", "iam"],
        client_id: "6b1f1d6e",
        client_secret: { name: "oidc", namespace: "secrets" },
        redirect_url: "https://hub.example.com:8443/v1/authn/exchange",
        logout_path: "/v1/authn/logout",
        login: "session",
        deny_redirect: true,
        connect: true,
        claims: "console",
        allowed_origins: ["https://app.example.com"],
        backend: { service: { name: "web", namespace: "hub", port: 3000 } },
      },
    },
    paths: [
      {
        service: "hub",
        path: "/healthz",
        match: "exact",
        methods: ["GET", "HEAD"],
        exposure: "PUBLIC",
      },
      { frontend: "web", path: "/", match: "prefix", methods: ["*"], exposure: "AUTHENTICATED" },
      {
        service: "hub",
        path: "/v1/hooks",
        match: "exact",
        methods: ["POST"],
        exposure: "PUBLIC",
        audit: { event: "hub.hook", risk_level: "LOW" },
        rate_limit: { qps: 5, burst: 20 },
      },
    ],
  };
}

/** The keys and indices that lead to a value. */
export type Path = readonly (string | number)[];

/** The path of `services.hub.packages[0]` and the like. */
export function pathOf(text: string): Path {
  return text
    .split(/[.[\]]+/)
    .filter((step) => step !== "")
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** The full configuration with one value replaced, or removed where it is undefined, as JSON, which is YAML too. */
export function platformWith(place: string, value: unknown): string {
  const platform = fullPlatform();
  const path = pathOf(place);
  const last = path.at(-1) as string | number;
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((node, step) => (node as Record<string | number, unknown>)[step], platform);
  (parent as Record<string | number, unknown>)[last] = value;
  return JSON.stringify(platform, undefined, 2);
}
