import {
  type LoadServiceConfigOptions,
  parseServiceConfig,
} from "../../../src/runtime/configuration/load-service-config.ts";

/** A configuration with every key, as the value of a file. */
export function fullService() {
  const tls = () => ({
    certificate_file: "tls.crt",
    key_file: "tls.key",
    client_ca_file: "ca.crt",
  });
  return {
    environment: "staging",
    service: "iam",
    server: {
      http: {
        address: "0.0.0.0:18080",
        timeout_ns: 5_000_000_000,
        max_body_bytes: 1024,
        cors: { allowed_origins: ["https://app.example.com"], max_age_seconds: 60 },
        max_connection_idle_ns: 60_000_000_000,
        max_connection_age_ns: 1_800_000_000_000,
        max_connection_age_grace_ns: 5_000_000_000,
        tls: tls(),
      },
      grpc: {
        address: "[::]:19080",
        timeout_ns: 1_000_000,
        max_message_bytes: 1024,
        compression: false,
        reflection: false,
        max_connection_idle_ns: 60_000_000_000,
        max_connection_age_ns: 1_800_000_000_000,
        max_connection_age_grace_ns: 5_000_000_000,
        tls: tls(),
      },
      metrics: { address: "127.0.0.1:19180", path: "/metrics" },
      max_response_bytes: 65536,
      error_info: false,
      max_message_elements: 1_000,
      stream_timeout_ns: 60_000_000_000,
      shutdown_timeout_ns: 10_000_000_000,
      shutdown_delay_ns: 3_000_000_000,
    },
    security: {
      authn: {
        enabled: true,
        mode: "hybrid",
        provider: "casdoor",
        cache_ttl_ns: 300_000_000_000,
        gateway: { trusted_peers: ["10.0.0.0/8"], allow_any_peer: false },
        oidc: {
          provider: "casdoor",
          issuer: "https://id.example.com",
          discovery_url: "https://id.example.com/.well-known/openid-configuration",
          jwks_url: "http://id.internal/jwks",
          audience: ["2f6c1a54"],
          allowed_owners: ["acme"],
          subject_type_claim: "kind",
          allowed_algs: ["ES256"],
          jwks_cache_ttl_ns: 600_000_000_000,
          clock_skew_ns: 0,
        },
        casdoor: {
          endpoint: "http://casdoor:8000",
          organization_name: "acme",
          application_name: "hub",
          client_id: "2f6c1a54",
          client_secret: "SECRET-client",
        },
        internal_call: {
          enabled: true,
          header: "X-Svc-Internal-Token",
          token: [{ service: "hub", token: "SECRET-internal-token" }],
          system_token: "SECRET-system-token",
        },
        revocation: {
          endpoint: "iam:19080",
          token: "SECRET-revocation-token",
          insecure: false,
          ca_file: "iam-ca.pem",
          certificate_file: "iam-client.pem",
          key_file: "iam-client.key",
          on_loss: "refuse",
          max_entries: 100_000,
        },
      },
      authz: {
        enabled: true,
        provider: "spicedb",
        dev_allow_all: false,
        model: "iam.zed",
        spicedb: {
          endpoint: "spicedb:50051",
          token: "SECRET-spicedb",
          transport: "grpc",
          insecure: false,
          ca_file: "spicedb-ca.pem",
        },
      },
    },
    database: {
      driver: "postgres",
      url: "postgres://iam:SECRET-database@db:5432/iam?password=SECRET-query",
      max_open_conns: 20,
      max_idle_conns: 10,
      conn_max_lifetime_ns: 1_800_000_000_000,
      slow_query_threshold_ns: 200_000_000,
    },
    log: { level: "debug" },
    access_log: { enabled: false, skip_paths: ["/healthz"], slow_threshold_ns: 1_000_000_000 },
    audit: { retention_days: 90 },
    registry: {
      etcd: {
        endpoints: ["https://etcd:2379"],
        username: "iam",
        password: "SECRET-etcd",
        ca_file: "etcd-ca.pem",
        certificate_file: "etcd.pem",
        key_file: "etcd.key",
        lease_ttl_seconds: 15,
      },
    },
  };
}

/** The full configuration with one value replaced, or removed if undefined, as JSON, which is also YAML. */
export function serviceWith(place: string, value: unknown): string {
  const config = fullService();
  const path = place.split(/[.[\]]+/).filter((step) => step !== "");
  const last = path.pop() as string;
  const parent = path.reduce<unknown>(
    (node, step) => (node as Record<string, unknown>)[step],
    config,
  );
  (parent as Record<string, unknown>)[last] = value;
  return JSON.stringify(config, undefined, 2);
}

/** All problems of a text, one per line, without the file. */
export function problemsOf(text: string, options: LoadServiceConfigOptions = {}): string[] {
  try {
    parseServiceConfig(text, "service.yaml", { variables: {}, ...options });
    return [];
  } catch (error) {
    const { name, problems } = error as { name: string; problems: string[] };
    if (name !== "ConfigurationError") throw error;
    return problems.map((problem) => problem.replace(/^service\.yaml:/, ""));
  }
}

/** The minimal configuration of a service. */
export const MINIMAL = `service: hub
server: {http: {address: "127.0.0.1:18001"}}
security: {authz: {model: iam.zed}}
database: {file: hub.db}
environment: development
`;
