/**
 * A path that is served outside the chain, such as health and readiness. It never refuses a caller,
 * so it must not reveal anything else.
 */
export interface Probe {
  /** The exact path, such as `/healthz`. */
  readonly path: string;
  handle(): ProbeAnswer | Promise<ProbeAnswer>;
}

/** The response of a probe; `body` as JSON. */
export interface ProbeAnswer {
  readonly status: number;
  readonly body: object;
}
