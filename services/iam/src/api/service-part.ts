import type {
  AdmissionCheck,
  Job,
  RawHandler,
  ReadinessCheck,
  ServiceBinding,
  ServiceMetric,
} from "svc-access/runtime";
import type { Removals } from "../ground/removals/removals.ts";
import type { OutsideValues } from "../ground/secrets/outside-values.ts";
import type { Opened, OpenedIdentity } from "../identity/open-identity.ts";
import type { OpenedRights } from "../rights/open-rights.ts";

/** What each part of the service may use: what is open, who people are, and who may grant what. */
export interface PartContext extends Opened {
  readonly identity: OpenedIdentity;
  /** Deletes records with their relationships; a part registers its kind. */
  readonly removals: Removals;
  readonly rights: OpenedRights;
  /** Seals page tokens. */
  readonly pageTokens: OutsideValues;
}

/** What one part adds to the server. */
export interface ServicePart {
  /** Its RPCs. */
  readonly bindings?: readonly ServiceBinding[];
  /** Its paths that are not RPCs. */
  readonly rawHandlers?: readonly RawHandler[];
  /** Its jobs. They do not run while the clock of this process is wrong. */
  readonly jobs?: readonly Job[];
  /** What it says in `/readyz`, by name. */
  readonly readiness?: Readonly<Record<string, ReadinessCheck>>;
  /** Whom it refuses, of authorized callers of any RPC. */
  readonly admission?: readonly AdmissionCheck[];
  /** The full names of its RPCs that do their work once for each `Idempotency-Key`. */
  readonly idempotentRpcs?: readonly string[];
  /** Its metrics. */
  readonly metrics?: readonly ServiceMetric[];
  /** Ends what would keep the service from stopping, such as streams without an end. */
  readonly onStopping?: () => void;
  /** Closes what the part has opened, when all calls have ended. */
  readonly onClose?: () => Promise<void>;
}
