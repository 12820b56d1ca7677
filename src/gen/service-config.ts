// Generated from src/runtime/configuration by npm run generate. Do not edit.

/**
 * The configuration of a service, with its defaults in place (docs/requirements.md, CONF-1). What ends in
 * `_ns` is in nanoseconds, in `_seconds` in seconds, in `_days` in days, in `_bytes` in bytes.
 */
export interface ServiceConfig {
  /** The environment, as in the keys of the route registry; only development and test allow settings for development, and development trusts this machine. */
  environment: string;
  /** The name of the deployed service. */
  service: string;
  /** Where it listens. */
  server: {
    /** The HTTP server; absent or null, none. */
    http?: {
      /** Where it listens, host:port. */
      address: string;
      /** How long a call may take. */
      timeout_ns: number;
      /** The largest request body. */
      max_body_bytes: number;
      /** Which other origins may call. */
      cors: {
        /** The origins whose pages may call with credentials, such as https://app.example.com. */
        allowed_origins: string[];
        /** How long browsers cache the response to a preflight. */
        max_age_seconds: number;
      };
      /** How long a connection without a call stays open; longer than the idle time of load balancers. */
      max_connection_idle_ns: number;
      /** The age at which a connection accepts no further calls, plus or minus a tenth, so that clients spread over the replicas; absent, no limit. */
      max_connection_age_ns?: number | undefined;
      /** How long the calls of an HTTP/2 connection that is too old may still take; absent, no limit. */
      max_connection_age_grace_ns?: number | undefined;
      /** The server's certificate; absent, plain text. */
      tls?: {
        /** The certificate chain, PEM. */
        certificate_file: string;
        /** The private key, PEM. */
        key_file: string;
        /** The CA certificates that clients are verified with, PEM; if set, clients must present a certificate (mTLS). */
        client_ca_file?: string | undefined;
      } | undefined;
    } | undefined;
    /** The gRPC server; absent or null, none. */
    grpc?: {
      /** Where it listens, host:port. */
      address: string;
      /** How long a call may take. */
      timeout_ns: number;
      /** The largest message, each way. */
      max_message_bytes: number;
      /** Whether responses from 16 KiB on are compressed for clients that accept gzip. */
      compression: boolean;
      /** How long a connection without a call stays open; absent, no limit. */
      max_connection_idle_ns?: number | undefined;
      /** The age at which a connection accepts no further calls, plus or minus a tenth, so that clients spread over the replicas; absent, no limit. */
      max_connection_age_ns?: number | undefined;
      /** How long the calls of an HTTP/2 connection that is too old may still take; absent, no limit. */
      max_connection_age_grace_ns?: number | undefined;
      /** Whether server reflection is served; absent, in development and test only. */
      reflection?: boolean | undefined;
      /** The server's certificate; absent, plain text. */
      tls?: {
        /** The certificate chain, PEM. */
        certificate_file: string;
        /** The private key, PEM. */
        key_file: string;
        /** The CA certificates that clients are verified with, PEM; if set, clients must present a certificate (mTLS). */
        client_ca_file?: string | undefined;
      } | undefined;
    } | undefined;
    /** The server of metrics, on an address of its own; absent or null, none. */
    metrics?: {
      /** Where it listens, host:port. */
      address: string;
      /** The path of the metrics. */
      path: string;
    } | undefined;
    /** The largest response message over gRPC; absent, the limit of request messages. */
    max_response_bytes?: number | undefined;
    /** Whether gRPC errors carry their code and details in a google.rpc.ErrorInfo; without it, clients get the status and message only. */
    error_info: boolean;
    /** How many elements one message may have, at any depth. */
    max_message_elements: number;
    /** How long a streaming call may take. */
    stream_timeout_ns: number;
    /** How long calls may still take after the process was asked to stop. */
    shutdown_timeout_ns: number;
    /** How much of shutdown_timeout_ns the service still accepts connections and calls, while /readyz is 503: until load balancers that ask it have noticed. */
    shutdown_delay_ns: number;
  };
  /** Authentication and authorization. */
  security: {
    /** Authentication. */
    authn: {
      /** Whether callers are authenticated at all. */
      enabled: boolean;
      /** How callers are authenticated. */
      mode: "gateway_trusted" | "idp_jwt" | "hybrid" | "disabled";
      /** The kind of the identity provider. */
      provider?: "embedded" | "oidc" | "casdoor" | undefined;
      /** How long a verified token is remembered. */
      cache_ttl_ns: number;
      /** From which peers identity headers are accepted. */
      gateway: {
        /** The peers whose identity headers are accepted: CIDRs, IP addresses, or names of mTLS certificates. */
        trusted_peers: string[];
        /** Must be true if the list of peers contains every address. */
        allow_any_peer: boolean;
      };
      /** How tokens are verified; needed with idp_jwt and hybrid. */
      oidc?: {
        /** The provider's name, for the log. */
        provider?: string | undefined;
        /** The issuer, exactly as the token's `iss` has it. */
        issuer: string;
        /** The discovery document; absent, that of the issuer. */
        discovery_url?: string | undefined;
        /** The key set; absent, that of the discovery document. */
        jwks_url?: string | undefined;
        /** The client ids that tokens may be for. */
        audience: string[];
        /** The organizations whose tokens are accepted (claim `owner`); empty accepts all. */
        allowed_owners: string[];
        /** The claim that holds the subject type, `user` or `service_account`; absent, `subject_type` of IAM's own issuer (`…/v1/iam/oidc`), and none of any other. */
        subject_type_claim?: string | undefined;
        /** The signature algorithms that are accepted. */
        allowed_algs: ("RS256" | "RS512" | "ES256" | "ES512")[];
        /** How long keys are kept. */
        jwks_cache_ttl_ns: number;
        /** How far clocks may differ. */
        clock_skew_ns: number;
      } | undefined;
      /** The management API of Casdoor. */
      casdoor?: {
        /** Where it answers; may be cluster-internal. */
        endpoint: string;
        /** The organization. */
        organization_name: string;
        /** The application. */
        application_name: string;
        /** The client id. */
        client_id: string;
        /** The client secret; give it as ${VAR}. */
        client_secret: string;
      } | undefined;
      /** Calls between services. */
      internal_call: {
        /** Whether internal tokens are accepted. */
        enabled: boolean;
        /** The header that carries them. */
        header: string;
        /** The token, or a list of {service, token} or {service, token_file}; give tokens as ${VAR}. Several of a service are accepted while they rotate; empty ones of the list are skipped. */
        token?: string | ({
          /** The service that calls with it: the subject id of its principal. */
          service: string;
          /** The token; an entry whose token is empty is skipped. */
          token?: string | "" | undefined;
          /** The file that holds the token; read again when it changes. */
          token_file?: string | undefined;
        })[] | undefined;
        /** Instead of token, the file that holds it; read again when it changes. */
        token_file?: string | undefined;
        /** The token of SYSTEM calls, or a list of tokens while they rotate; empty ones are skipped. If absent, SYSTEM calls are refused. Give it as ${VAR}. */
        system_token?: string | (string | "")[] | undefined;
        /** The file that holds the token of SYSTEM calls, or a list of files while it rotates, also beside system_token; read again when they change. */
        system_token_file?: string | string[] | undefined;
      };
      /** Where the revocations of tokens come from; absent, none are known but those of the service's own list. */
      revocation?: {
        /** Where IAM answers gRPC, host:port. */
        endpoint: string;
        /** The internal token of this service for IAM; give it as ${VAR}. Needed without token_file. */
        token?: string | undefined;
        /** Instead of token, the file that holds it; read again when it changes. */
        token_file?: string | undefined;
        /** Whether IAM is called without TLS. */
        insecure: boolean;
        /** The CA certificates that IAM is verified with, PEM; absent, the public CAs. */
        ca_file?: string | undefined;
        /** The client certificate for IAM, PEM; needs key_file. */
        certificate_file?: string | undefined;
        /** The key of the client certificate, PEM. */
        key_file?: string | undefined;
        /** While revocations are not known, `refuse` answers calls with a token with 503; `serve` accepts tokens that may have been revoked. */
        on_loss: "refuse" | "serve";
        /** How many revocations are held in memory; with more, calls with a token get 503. */
        max_entries: number;
      } | undefined;
    };
    /** Authorization. */
    authz: {
      /** Whether AUTHORIZED calls are checked. */
      enabled: boolean;
      /** The kind of the authorization engine. */
      provider: "embedded" | "spicedb" | "iam";
      /** Whether every check allows; for development only. */
      dev_allow_all: boolean;
      /** The file of the authorization model; needed if calls are checked. */
      model?: string | undefined;
      /** The SpiceDB; needed with that provider. */
      spicedb?: {
        /** Where it answers, host:port. */
        endpoint: string;
        /** The preshared key; give it as ${VAR}. Needed without token_file. */
        token?: string | undefined;
        /** Instead of token, the file that holds it; read at the start. */
        token_file?: string | undefined;
        /** How it is called. */
        transport: "grpc";
        /** Whether it is called without TLS. */
        insecure: boolean;
        /** The CA certificates that it is verified with, PEM; absent, the public CAs. */
        ca_file?: string | undefined;
      } | undefined;
      /** The IAM service; needed with that provider. */
      iam?: {
        /** Where IAM answers gRPC, host:port. */
        endpoint: string;
        /** The internal token of this service for IAM; give it as ${VAR}. Needed without token_file. */
        token?: string | undefined;
        /** Instead of token, the file that holds it; read again when it changes. */
        token_file?: string | undefined;
        /** Whether IAM is called without TLS. */
        insecure: boolean;
        /** The CA certificates that IAM is verified with, PEM; absent, the public CAs. */
        ca_file?: string | undefined;
        /** The client certificate for IAM, PEM; needs key_file. */
        certificate_file?: string | undefined;
        /** The key of the client certificate, PEM. */
        key_file?: string | undefined;
      } | undefined;
    };
  };
  /** Where relationships (of the embedded engine) and audit events are kept. */
  database?: {
    /** The kind of database. */
    driver: "sqlite" | "postgres";
    /** The file of SQLite; needed with sqlite. */
    file?: string | undefined;
    /** The URL of PostgreSQL; needed with postgres. It holds a secret, so give it as ${VAR}. */
    url?: string | undefined;
    /** The file that holds the password of PostgreSQL, which is then not in url; read at the start. */
    password_file?: string | undefined;
    /** The maximum number of connections; the embedded engine has as many of its own, of which it usually uses one. */
    max_open_conns: number;
    /** The maximum number of idle connections. */
    max_idle_conns: number;
    /** How long a connection is used. */
    conn_max_lifetime_ns: number;
    /** The duration from which a query is logged. */
    slow_query_threshold_ns: number;
  } | undefined;
  /** The log. */
  log: {
    /** What is logged: this level and those above it. */
    level: "trace" | "debug" | "info" | "warn" | "error" | "silent";
  };
  /** The log of calls. */
  access_log: {
    /** Whether calls are logged. */
    enabled: boolean;
    /** The paths that are not logged. */
    skip_paths: string[];
    /** The duration from which a call is logged as slow. */
    slow_threshold_ns: number;
  };
  /** The audit events. */
  audit: {
    /** How long audit events are kept; absent, indefinitely. */
    retention_days?: number | undefined;
  };
  /** The route registry; absent, routes are not published. */
  registry?: {
    /** The etcd that holds it. */
    etcd: {
      /** Where etcd answers. */
      endpoints: string[];
      /** The user. */
      username?: string | undefined;
      /** The password; give it as ${VAR}. */
      password?: string | undefined;
      /** Instead of password, the file that holds it; read at the start. */
      password_file?: string | undefined;
      /** The CA certificates that it is verified with, PEM; absent, the public CAs. */
      ca_file?: string | undefined;
      /** The client certificate for etcd, PEM; needs key_file. */
      certificate_file?: string | undefined;
      /** The key of the client certificate, PEM. */
      key_file?: string | undefined;
      /** How long entries outlive a process that was killed. */
      lease_ttl_seconds: number;
    };
  } | undefined;
}
