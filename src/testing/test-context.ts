import { randomBytes } from "node:crypto";
import { checkObject, checkRecord } from "../runtime/audit/event/audit-record.ts";
import type {
  AuditRecord,
  CallAudit,
  CallContext,
  Principal,
} from "../runtime/call/call-context.ts";
import { ResponseFields } from "../runtime/call/response-fields.ts";
import { ServiceError } from "../runtime/error/service-error.ts";
import { principalOf, type TestUser } from "./caller.ts";

/**
 * The options of a test's call context. Without a user, a service or a principal the call has no
 * caller.
 */
export interface TestContextOptions extends Partial<TestUser> {
  /** A service that calls, in place of a user. */
  readonly service?: string;
  /** The whole principal, if the fields above are not enough. */
  readonly principal?: Principal;
  /** The full method name; `test.v1.TestService/Test` if absent. */
  readonly rpc?: string;
  /** The request id; `test-request` if absent. */
  readonly requestId?: string;
  /** The trace id, 32 hexadecimal digits; a new one if absent. */
  readonly traceId?: string;
  /** The IP address of the client; `127.0.0.1` if absent. */
  readonly clientAddress?: string;
  /** When the call must be done, in milliseconds since the epoch; in a minute if absent. No timer enforces it. */
  readonly deadline?: number;
  /** Aborts the call, beside `abort`. */
  readonly signal?: AbortSignal;
}

/**
 * A `CallContext` that records what the handler does with it. It refuses headers that one of the
 * transports could not send.
 */
export interface TestContext extends CallContext {
  /** What the handler set by `setResponseHeader`, by names in lower case; values that it appended are joined by `, `. */
  readonly responseHeaders: ReadonlyMap<string, string>;
  /** What the handler set by `setResponseTrailer`, likewise. */
  readonly responseTrailers: ReadonlyMap<string, string>;
  /** What the handler recorded by `audit.record`. */
  readonly auditRecords: readonly AuditRecord[];
  /** What the handler named by `audit.setResource`. */
  readonly auditResource: string | undefined;
  /** Ends the call early: the handler's `signal` aborts, with CANCELLED if no reason is given. */
  abort(reason?: unknown): void;
}

const MINUTE_MS = 60_000;

/**
 * A call context for the test of a handler. Nothing is authenticated, authorized or audited: that is
 * the chain's part, which `startTestServer` has.
 *
 * @throws TypeError if more than one of user, service and principal calls
 *
 * @example
 * ```ts
 * const context = testContext({ user: "alice" });
 * const request = create(SetItemRequestSchema, { itemId: "first", text: "hello" });
 * const { item } = await handlers(engine).setItem(request, context);
 * ```
 */
export function testContext(options: TestContextOptions = {}): TestContext {
  const abort = new AbortController();
  const headers = new ResponseFields("grpc", "header");
  const trailers = new ResponseFields("grpc", "trailer");
  const responseHeaders = new Map<string, string>();
  const responseTrailers = new Map<string, string>();
  const { signal } = options;
  const auditRecords: AuditRecord[] = [];
  let auditResource: string | undefined;
  const audit: CallAudit = {
    setResource(resource) {
      checkObject(resource);
      auditResource = resource;
    },
    async record(event) {
      checkRecord(event);
      auditRecords.push(event);
    },
  };
  return {
    rpc: options.rpc ?? "test.v1.TestService/Test",
    principal: callerOf(options),
    requestId: options.requestId ?? "test-request",
    traceId: options.traceId ?? randomBytes(16).toString("hex"),
    clientAddress: options.clientAddress ?? "127.0.0.1",
    deadline: options.deadline ?? Date.now() + MINUTE_MS,
    signal: signal === undefined ? abort.signal : AbortSignal.any([abort.signal, signal]),
    audit,
    auditRecords,
    get auditResource() {
      return auditResource;
    },
    responseHeaders,
    responseTrailers,
    setResponseHeader(name, value) {
      headers.set(name, value);
      responseHeaders.set(name.toLowerCase(), value);
    },
    appendResponseHeader(name, value) {
      headers.append(name, value);
      append(responseHeaders, name.toLowerCase(), value);
    },
    setResponseTrailer(name, value) {
      trailers.set(name, value);
      responseTrailers.set(name.toLowerCase(), value);
    },
    appendResponseTrailer(name, value) {
      trailers.append(name, value);
      append(responseTrailers, name.toLowerCase(), value);
    },
    abort(reason = new ServiceError("CANCELLED")) {
      abort.abort(reason);
    },
  };
}

function append(metadata: Map<string, string>, name: string, value: string): void {
  const before = metadata.get(name);
  metadata.set(name, before === undefined ? value : `${before}, ${value}`);
}

function callerOf({ principal, user, service, ...claims }: TestContextOptions) {
  const given = [principal, user, service].filter((one) => one !== undefined);
  if (given.length > 1) {
    throw new TypeError("testContext: set only one of user, service and principal");
  }
  if (user !== undefined) return principalOf({ user, ...claims });
  return service === undefined ? principal : principalOf({ service });
}
