import type { DescService } from "@bufbuild/protobuf";
import type { AuthorizationEngine } from "../authz/engine/engine.ts";
import type { AuditEvent } from "../runtime/audit/event/audit-event.ts";
import type { AuditFilter } from "../runtime/audit/log/audit-filter.ts";
import type { AuditLog } from "../runtime/audit/log/audit-log.ts";
import type { HttpRoute } from "../runtime/binding/service-binding.ts";
import type { ServiceClient } from "../runtime/client/index.ts";
import type { TestCaller } from "./caller.ts";
import type { TestRelationship } from "./test-engine.ts";

/** A server that a test has started: the one that runs in production, on free ports of this machine. */
export interface TestServer extends AsyncDisposable {
  /** Where HTTP is served, such as `http://127.0.0.1:40123`; empty if it is not. */
  readonly httpUrl: string;
  /** Where gRPC is served, such as `127.0.0.1:40124`; empty if it is not. */
  readonly grpcTarget: string;
  /** Where metrics are served, such as `http://127.0.0.1:40125`; empty if they are not. */
  readonly metricsUrl: string;
  /** The engine that calls are checked with; `undefined` without a model. */
  readonly engine: AuthorizationEngine | undefined;
  /**
   * Makes calls as somebody.
   *
   * @throws TypeError for a service that `TestServerOptions.services` does not name
   */
  as(caller: TestCaller): TestCalls;
  /**
   * Adds relationships to the initial ones.
   *
   * @throws TypeError without a model, or for a text that is not a relationship; AuthzError for one that
   * does not fit the model
   */
  relate(...relationships: TestRelationship[]): Promise<void>;
  /**
   * The audit events, oldest first. The event of a call is stored before its caller has the answer.
   *
   * @param filter which are meant; all if absent
   *
   * @example
   * ```ts
   * await using server = await startTestServer((engine) => bindNotesService(handlers(engine)), {
   *   model: "model.zed",
   * });
   * const bob = server.as({ user: "bob" }).grpc(NotesService);
   * await assert.rejects(bob.setItem({ itemId: "first", text: "hello" }), { code: "FORBIDDEN" });
   * const [event] = await server.auditEvents({ principalId: "bob" });
   * assert.equal(event?.data.decision, "denied");
   * ```
   */
  auditEvents(filter?: AuditFilter): Promise<readonly AuditEvent[]>;
  /** The lines of the log so far, oldest first; the last ten thousand if there are more. */
  logLines(): readonly Readonly<Record<string, unknown>>[];
  /** Ends the server and all clients, and removes its files. */
  close(): Promise<void>;
}

/** Calls as one caller. */
export interface TestCalls {
  /** The headers that identify the caller, for other clients. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Calls over HTTP: `fetch("/v1/notes/items")`.
   *
   * @param path from the root of the server, with its query
   * @throws TypeError if HTTP is not served
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** A typed client over gRPC. It does not retry, and is closed with the server. */
  grpc<Service extends DescService>(service: Service): ServiceClient<Service>;
  /**
   * A typed client over HTTP, by the generated routes. It does not retry, and is closed with the
   * server.
   */
  http<Service extends DescService>(
    service: Service,
    routes: readonly HttpRoute[],
  ): ServiceClient<Service>;
}

/** All events of a log that match, oldest first. */
export async function readAll(log: AuditLog, filter: AuditFilter): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  for await (const event of log.export(filter)) events.push(event);
  return events;
}
