import type { Registry } from "prom-client";
import type { RuntimeEvents } from "../../events/runtime-events.ts";
import { Counter } from "./counter.ts";

type Outcome<Event extends keyof RuntimeEvents> =
  Parameters<RuntimeEvents[Event]> extends [...unknown[], infer Last extends string] ? Last : never;

const AUTHENTICATIONS: readonly Outcome<"authentication">[] = [
  "identified",
  "rejected",
  "unavailable",
];
const AUTHORIZATIONS: readonly Outcome<"authorization">[] = [
  "allowed",
  "denied",
  "unavailable",
  "invalid",
];
const AUDITS: readonly Outcome<"audit">[] = [
  "stored",
  "delayed",
  "refused",
  "dropped",
  "coalesced",
];
const CACHES: readonly Outcome<"cache">[] = ["hit", "miss"];
const REGISTRIES: readonly Outcome<"registry">[] = ["published", "lost", "failed"];
const SECRET_FILES: readonly Outcome<"secretFile">[] = ["changed", "failed"];
const JOBS: readonly Outcome<"job">[] = ["succeeded", "failed", "timed_out"];

/** Counts the events of the parts of the runtime. */
export function eventMetrics(registry: Registry): RuntimeEvents {
  const counter = (
    name: string,
    help: string,
    labels: readonly string[],
    outcomes?: readonly string[],
  ) => new Counter(registry, `svc_access_${name}_total`, help, labels, outcomes);
  const dropped = counter(
    "identity_headers_dropped",
    "Requests whose identity headers were dropped: their peer is not trusted.",
    [],
  );
  const authentications = counter(
    "authentications",
    "Authentications by outcome.",
    ["authenticator", "outcome"],
    AUTHENTICATIONS,
  );
  const authorizations = counter(
    "authorizations",
    "Authorization checks by outcome.",
    ["outcome"],
    AUTHORIZATIONS,
  );
  const limited = counter("rate_limited", "Calls that the rate limit refused.", ["rpc"]);
  const audits = counter("audit_events", "Audit events.", ["outcome"], AUDITS);
  const caches = counter(
    "cache_requests",
    "Cache lookups by outcome.",
    ["cache", "outcome"],
    CACHES,
  );
  const registries = counter(
    "registry_events",
    "Events of the route registry.",
    ["outcome"],
    REGISTRIES,
  );
  const secretFiles = counter(
    "secret_files",
    "Secret files that were read again because they changed, or that could not be used.",
    ["outcome"],
    SECRET_FILES,
  );
  const cutOff = counter(
    "responses_cut_off",
    "Responses that were cut off: their clients did not read them, and others needed the memory.",
    [],
  );
  // Not `job`: a scrape has a label of that name, and would rename ours.
  const jobs = counter("job_runs", "Runs of jobs by outcome.", ["job_name", "outcome"], JOBS);
  const expected = {
    authentication: authentications,
    cache: caches,
    rateLimited: limited,
    job: jobs,
  };
  return {
    expect: (event, name) => expected[event].expect(name),
    identityHeadersDropped: () => dropped.increment(),
    authentication: (name, outcome) => authentications.increment(name, outcome),
    authorization: (outcome) => authorizations.increment(outcome),
    rateLimited: (rpc) => limited.increment(rpc),
    audit: (outcome) => audits.increment(outcome),
    cache: (name, outcome) => caches.increment(name, outcome),
    registry: (outcome) => registries.increment(outcome),
    secretFile: (outcome) => secretFiles.increment(outcome),
    responseCutOff: () => cutOff.increment(),
    job: (name, outcome) => jobs.increment(name, outcome),
  };
}
