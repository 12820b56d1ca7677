import type { RouteDocument } from "../../api/format.ts";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import type { ServerDatabase } from "../../database/service/server-database.ts";
import type { AuditRecorder } from "../audit/recorder/audit-recorder.ts";
import type { Authenticator } from "../authn/identity/authenticator.ts";
import type { RevocationList } from "../authn/jwt/revocation-list.ts";
import type { ServiceBinding } from "../binding/service-binding.ts";
import type { AdmissionCheck, Interceptor } from "../chain/interceptor.ts";
import type { LoadedServiceConfig } from "../configuration/load-service-config.ts";
import type { RawHandler } from "../http/raw/raw-handler.ts";
import type { Job } from "../jobs/job.ts";
import type { ProcessLogger } from "../logging/create-logger.ts";
import type { ServiceMetric } from "../observers/metrics/service-metric.ts";
import type { ReadinessCheck } from "./readiness.ts";

/**
 * The options of a server.
 *
 * @example
 * ```ts
 * const options: ServerOptions = {
 *   configuration: loadServiceConfig("service.yaml"),
 *   bindings: [bindNotesService(handlers(engine))],
 *   engine,
 *   readiness: {
 *     search: async (signal) => {
 *       const { ok } = await fetch("http://search:9200/_health", { signal });
 *       return ok ? undefined : "is not healthy";
 *     },
 *   },
 *   onStopping: () => console.log("calls under way are finished"),
 *   onClose: () => console.log("all calls have ended"),
 * };
 * ```
 */
export interface ServerOptions {
  /** The result of `loadServiceConfig`. */
  readonly configuration: LoadedServiceConfig;
  /** The results of the generated `bind…` functions. */
  readonly bindings: readonly ServiceBinding[];
  /** The generated `routes/<service>.json`: what is published, and the paths of raw handlers. Checked like the file. */
  readonly routes?: RouteDocument;
  /**
   * The engine that checks AUTHORIZED calls; absent, the configured one is opened. The server
   * closes it.
   */
  readonly engine?: AuthorizationEngine;
  /**
   * The database of the service, opened with `openServiceDatabase` of `svc-access/database`. The server
   * shares its connections for audit, is ready only while it answers, and closes it after `onClose`.
   */
  readonly database?: ServerDatabase;
  /**
   * The recorder of audit events outside of calls, opened with `openAuditRecorder`. The server counts
   * its events in the metrics, and closes it when all calls and jobs have ended and `onClose` has
   * returned.
   */
  readonly auditRecorder?: AuditRecorder;
  /** Handlers of paths that are not RPCs; each must be declared in `routes`. */
  readonly rawHandlers?: readonly RawHandler[];
  /**
   * Whether HTTP has a port of its own, `server.http.address`; true if absent. With false, pass
   * the requests of your own server to `Server.requestListener`.
   */
  readonly listenHttp?: boolean;
  /** Further kinds of credentials, tried after those of the configured mode. */
  readonly authenticators?: readonly Authenticator[];
  /**
   * Which tokens are no longer accepted, in addition to those of `security.authn.revocation`;
   * absent, none.
   */
  readonly revocations?: RevocationList;
  /**
   * Reads the key set (RFC 7517) of `security.authn.oidc` if its provider is in this process; absent,
   * it is fetched from `discovery_url` or `jwks_url`. It is read again as those are: when it is too
   * old, and for a key that is not in it.
   */
  readonly keySet?: () => Promise<object>;
  /** Run before all other stages of the chain, in their order (docs/requirements.md, CHAIN-1). */
  readonly before?: readonly Interceptor[];
  /** Run after all other stages, around the handler, in their order. */
  readonly after?: readonly Interceptor[];
  /**
   * The full names of RPCs that do their work once for each `Idempotency-Key` that a caller sends, such as
   * `notes.v1.NotesService/CreateNote`: a repeated call gets the response of the first one, for 24 hours.
   * They need the database of the configuration.
   */
  readonly idempotentRpcs?: readonly string[];
  /** Called in their order once a call is authorized; the first that throws refuses it. */
  readonly admission?: readonly AdmissionCheck[];
  /**
   * Further dependencies that must be available for the service to be ready, by the names that
   * reasons begin with.
   */
  readonly readiness?: Readonly<Record<string, ReadinessCheck>>;
  /** Work that is repeated while the server runs; it begins with `start` and ends with `stop`. */
  readonly jobs?: readonly Job[];
  /** Metrics of the service, besides those of the runtime. */
  readonly metrics?: readonly ServiceMetric[];
  /** The logger; absent, one of `createLogger`, with the configured level. */
  readonly logger?: ProcessLogger;
  /** The version of the service, for the line `started` of the log. */
  readonly version?: string;
  /**
   * Called when the server begins to stop, after `server.shutdown_delay_ns` and before it waits for the
   * calls under way. End here what it would wait for, such as streams that never end by themselves.
   */
  readonly onStopping?: () => void;
  /** Called when all calls have ended, before `database` is closed and the process ends. */
  readonly onClose?: () => void | Promise<void>;
}
