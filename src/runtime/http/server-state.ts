import type { Turn } from "../server/turn.ts";
import type { Connections } from "./connections.ts";
import type { Cors } from "./cors.ts";
import type { TransportLimits } from "./transport-limits.ts";

/** What all requests of a server share. */
export interface ServerState {
  readonly cors: Cors;
  readonly limits: TransportLimits;
  readonly turn: Turn;
  readonly connections: Connections;
  /** Whether the server is ending: each response is the last one of its connection. */
  isDraining: boolean;
}
