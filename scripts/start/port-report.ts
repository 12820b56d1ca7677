/** What a process of the platform tells of a port. */
export interface PortReport {
  readonly port: number;
  /** Why it cannot listen there; absent once it listens. */
  readonly code?: string;
}
