/**
 * A path that is answered beside the chain, such as health and readiness. Who asks
 * whether the process lives is never refused, so it must tell nothing else.
 */
export interface Probe {
  /** The path, to the letter, such as `/healthz`. */
  readonly path: string;
  handle(): ProbeAnswer | Promise<ProbeAnswer>;
}

/** What a probe answers; `body` as JSON. */
export interface ProbeAnswer {
  readonly status: number;
  readonly body: object;
}
