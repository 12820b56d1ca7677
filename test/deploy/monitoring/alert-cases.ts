/**
 * For each alert, series with which it fires, and series that come close to it without firing. A series has a
 * value for each minute, in the notation of promtool.
 */

/** Values by minute, by series. */
type Series = Readonly<Record<string, string>>;

/** A case of an alert. */
export interface AlertCase {
  readonly fires: Series;
  /** The minute at which it fires. */
  readonly at: string;
  readonly silent: Series;
}

/** A series of a process of the service `hub`. */
const of = (metric: string, labels = "") => `${metric}{job="hub",instance="a"${labels}}`;
/** A counter that each service has. */
const EACH = "svc_access_responses_cut_off_total";
/** A value of it for longer than an alert is watched, since a service that ends is reported, too. */
const LONG = "0x150";
const OTHER_PROCESS = `${EACH}{job="hub",instance="b"}`;
const audit = (outcome: string) => of("svc_access_audit_events_total", `,outcome="${outcome}"`);
const requests = (code: string) =>
  of("rpc_server_requests_total", `,rpc="a.B/Get",transport="http",code="${code}"`);
const bucket = (rpc: string, le: string) =>
  of("rpc_server_duration_seconds_bucket", `,rpc="${rpc}",le="${le}"`);
const authentications = (outcome: string) =>
  of("svc_access_authentications_total", `,authenticator="hybrid",outcome="${outcome}"`);
const jobs = (name: string, outcome: string) =>
  of("svc_access_job_runs_total", `,job_name="${name}",outcome="${outcome}"`);
const limited = (rpc: string) => of("svc_access_rate_limited_total", `,rpc="${rpc}"`);
const logins = (method: string, outcome: string) =>
  of("iam_login_attempts_total", `,method="${method}",outcome="${outcome}"`);
const registry = (outcome: string) =>
  of("svc_access_registry_events_total", `,outcome="${outcome}"`);
const pool = (state: string) => of("db_client_connections", `,pool="database",state="${state}"`);

/** One event at minute 21, when the series has been there for long. */
const ONCE = "0x20 1x20";

/** The cases, by alert. */
export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  SvcTargetDown: {
    fires: {
      [of("up")]: "1x20 0x20",
      [of(EACH)]: "0x20 stale",
      [OTHER_PROCESS]: LONG,
    },
    at: "30m",
    silent: {
      [of("up")]: "1x20 0x1 1x20",
      [of(EACH)]: LONG,
      'up{job="other",instance="b"}': "0x40",
    },
  },
  SvcNoInstances: {
    // Its processes are no longer discovered; what is discovered instead never came up.
    fires: {
      [of("up")]: "1x20 stale",
      [of(EACH)]: "0x20 stale",
      'up{job="hub",instance="c"}': "_x21 0x150",
      'up{job="other",instance="b"}': "1x150",
      [`${EACH}{job="other",instance="b"}`]: LONG,
    },
    at: "25m",
    // One ends before the next one starts; the other one that vanishes is not of the runtime.
    silent: {
      [of("up")]: "1x20 stale",
      [of(EACH)]: "0x20 stale",
      'up{job="hub",instance="b"}': "_x24 1x150",
      [OTHER_PROCESS]: `_x24 ${LONG}`,
      'up{job="other",instance="b"}': "1x20 stale",
    },
  },
  SvcNotReady: {
    fires: { [of("svc_access_ready")]: "1x20 0x20" },
    at: "25m",
    // A dependency that is down shortly, an end, and the start of the process that takes over.
    silent: {
      [of("svc_access_ready")]: "1x5 0x2 1x12 0x1 stale",
      'svc_access_ready{job="hub",instance="b"}': "_x18 0x1 1x20",
    },
  },
  SvcRestarts: {
    fires: { [of("process_start_time_seconds")]: "1x20 2 3 4x20", [of(EACH)]: "0x45" },
    at: "26m",
    silent: {
      [of("process_start_time_seconds")]: "1x20 2 3x20",
      [of(EACH)]: LONG,
      'process_start_time_seconds{job="other",instance="b"}': "1+1x40",
    },
  },
  SvcCallsFail: {
    fires: { [requests("UNAVAILABLE")]: "0+12x40" },
    at: "30m",
    silent: { [requests("UNAVAILABLE")]: "0+5x40", [requests("FORBIDDEN")]: "0+600x40" },
  },
  SvcCallsSlow: {
    fires: {
      [bucket("a.B/Get", "1")]: "0+590x40",
      [bucket("a.B/Get", "+Inf")]: "0+600x40",
      [bucket("a.B/Get", "2.5")]: "0+600x40",
    },
    at: "30m",
    silent: {
      [bucket("a.B/Get", "1")]: "0+599x40",
      [bucket("a.B/Get", "+Inf")]: "0+600x40",
      [bucket("a.B/WatchRun", "1")]: "0x40",
      [bucket("a.B/WatchRun", "2.5")]: "0+60x40",
      [bucket("a.B/WatchRun", "+Inf")]: "0+60x40",
    },
  },
  SvcAuditEventsLost: {
    fires: { [audit("dropped")]: ONCE },
    at: "22m",
    silent: { [audit("dropped")]: "5x40", [audit("coalesced")]: ONCE },
  },
  SvcAuditedWritesRefused: {
    fires: { [audit("refused")]: ONCE },
    at: "22m",
    silent: { [audit("refused")]: "5x40", [audit("coalesced")]: ONCE },
  },
  SvcAuditEventsDelayed: {
    fires: { [audit("delayed")]: ONCE },
    at: "23m",
    silent: { [audit("delayed")]: "5x40", [audit("stored")]: "0+9x40" },
  },
  SvcAuditClockAhead: {
    fires: { [of("svc_access_audit_clock_ahead_seconds")]: "90000x40" },
    at: "6m",
    silent: { [of("svc_access_audit_clock_ahead_seconds")]: "86400x40" },
  },
  SvcAuthorizationUnavailable: {
    fires: { [of("svc_access_authorizations_total", ',outcome="unavailable"')]: ONCE },
    at: "23m",
    silent: { [of("svc_access_authorizations_total", ',outcome="denied"')]: "0+9x40" },
  },
  SvcAuthenticationUnavailable: {
    fires: { [authentications("unavailable")]: ONCE },
    at: "23m",
    silent: { [authentications("identified")]: "0+9x40" },
  },
  SvcRevocationsNotCurrent: {
    fires: { [of("svc_access_revocations_current")]: "1x20 0x20" },
    at: "23m",
    silent: { [of("svc_access_revocations_current")]: "1x20 0 1x20" },
  },
  SvcIdentityHeadersDropped: {
    fires: { [of("svc_access_identity_headers_dropped_total")]: ONCE },
    at: "22m",
    silent: { [of("svc_access_identity_headers_dropped_total")]: "5x40" },
  },
  SvcCallersRefused: {
    fires: { [authentications("rejected")]: "0+90x40" },
    at: "20m",
    silent: {
      [authentications("rejected")]: "0+50x40",
      [authentications("identified")]: "0+600x40",
    },
  },
  SvcCallsRateLimited: {
    fires: { [limited("a.B/Get")]: "0+90x40" },
    at: "20m",
    silent: { [limited("a.B/Get")]: "0+50x40", [limited("a.B/Set")]: "0+50x40" },
  },
  SvcDatabasePoolExhausted: {
    fires: { [pool("waiting")]: "1x40" },
    at: "5m",
    silent: { [pool("waiting")]: "0x20 9 0x20", [pool("used")]: "20x40" },
  },
  SvcRoutesNotPublished: {
    fires: { [registry("failed")]: "0+1x40" },
    at: "10m",
    silent: { [registry("lost")]: ONCE, [registry("published")]: "0+1x40" },
  },
  SvcSecretFileRefused: {
    fires: { [of("svc_access_secret_files_total", ',outcome="failed"')]: "0+1x40" },
    at: "10m",
    silent: { [of("svc_access_secret_files_total", ',outcome="changed"')]: "0+1x40" },
  },
  SvcJobFails: {
    fires: { [jobs("clean", "failed")]: "0+1x40", [jobs("clean", "succeeded")]: "7x40" },
    at: "20m",
    silent: { [jobs("clean", "failed")]: "0+1x40", [jobs("clean", "succeeded")]: "0+1x40" },
  },
  SvcRemovalsStuck: {
    fires: { [of("svc_access_removals_oldest_seconds", ',kind="user"')]: "3000+60x40" },
    at: "20m",
    silent: { [of("svc_access_removals_oldest_seconds", ',kind="user"')]: "0+60x40" },
  },
  SvcResponsesCutOff: {
    fires: { [of(EACH)]: "0+1x40" },
    at: "20m",
    silent: { [of(EACH)]: "0x20 1x150" },
  },
  SvcFileDescriptors: {
    fires: {
      [of("process_open_fds")]: "81x40",
      [of("process_max_fds")]: "100x40",
      [of(EACH)]: "0x40",
    },
    at: "5m",
    silent: {
      [of("process_open_fds")]: "80x40",
      [of("process_max_fds")]: "100x40",
      [of(EACH)]: LONG,
      'process_open_fds{job="other",instance="b"}': "100x40",
      'process_max_fds{job="other",instance="b"}': "100x40",
    },
  },
  SvcEventLoopBlocked: {
    fires: { [of("nodejs_eventloop_lag_p99_seconds")]: "0.6x40", [of(EACH)]: "0x40" },
    at: "10m",
    silent: {
      [of("nodejs_eventloop_lag_p99_seconds")]: "0.5x40",
      [of(EACH)]: LONG,
      'nodejs_eventloop_lag_p99_seconds{job="other",instance="b"}': "9x40",
    },
  },
  IamRevocationFeedStopped: {
    fires: { [jobs("revocations", "succeeded")]: "0+300x20 6000x20" },
    at: "30m",
    silent: { [jobs("revocations", "succeeded")]: "0+300x40" },
  },
  IamSigningKeysNotMaintained: {
    fires: { [jobs("provider_key_rotation", "succeeded")]: "5x120" },
    at: "100m",
    // New processes, at each of which the job runs every 10 minutes.
    silent: { [jobs("provider_key_rotation", "succeeded")]: "0x10 1x10 2x10 3x10 0x10 1x10 2x10" },
  },
  IamLoginsRateLimited: {
    // Neither would be enough: the limits of all paths of the provider count.
    fires: {
      [limited("/v1/iam/oidc/interaction")]: "0+8x40",
      [limited("/v1/iam/oidc")]: "0+8x40",
    },
    at: "20m",
    silent: { [limited("/v1/iam/oidc/interaction")]: "0+6x40", [limited("a.B/Get")]: "0+50x40" },
  },
  IamLoginsFail: {
    fires: {
      [logins("password", "failed")]: "0+5x40",
      [logins("password", "slowed")]: "0+20x40",
      [logins("password", "succeeded")]: "0+2x40",
    },
    at: "20m",
    silent: {
      [logins("password", "failed")]: "0+30x40",
      [logins("password", "succeeded")]: "0+60x40",
      [logins("client", "failed")]: "0+6x40",
      [logins("client", "succeeded")]: "0x40",
    },
  },
};
