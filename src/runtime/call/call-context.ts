import type { RiskLevel } from "../../api/policy.ts";
import { missingPrincipal } from "../error/service-error.ts";

/**
 * The context of a call for its handler; the same over HTTP and gRPC.
 *
 * @example
 * ```ts
 * const handler: UnaryHandler<{ itemId: string }, { itemId: string }> = async ({ itemId }, context) => {
 *   context.audit.setResource(`item:${itemId}`);
 *   context.setResponseHeader("Cache-Control", "no-store");
 *   const answer = await fetch(`https://example.com/${itemId}`, { signal: context.signal });
 *   if (!answer.ok) throw new ServiceError("RESOURCE_NOT_FOUND", "the item does not exist");
 *   return { itemId };
 * };
 * ```
 */
export interface CallContext {
  /** The full method name, such as `notes.v1.NotesService/SetItem`. */
  readonly rpc: string;
  /**
   * The caller; undefined if the exposure allows unauthenticated calls and the caller was not
   * identified.
   */
  readonly principal: Principal | undefined;
  /** The id that logs, errors and audit events of this call share: that of `X-Request-ID`, or a new one. */
  readonly requestId: string;
  /** The id of the trace, 32 hexadecimal digits (W3C trace context). */
  readonly traceId: string;
  /** The address of the client, behind the proxies that are trusted. */
  readonly clientAddress: string;
  /** When the call must be done, in milliseconds since the epoch. */
  readonly deadline: number;
  /**
   * Aborts when the caller has cancelled, the deadline has passed, or the server shuts down. Its reason is a
   * `ServiceError`: CANCELLED, DEADLINE_EXCEEDED or UNAVAILABLE.
   */
  readonly signal: AbortSignal;
  /** Adds to the audit of the call. */
  readonly audit: CallAudit;
  /**
   * Sets a header of the response, or of the initial metadata, and replaces existing values.
   *
   * @param name in any case
   * @param value text; of a name that ends in `-bin`, base64
   * @throws TypeError for one that cannot be sent, or if all are larger than 16 KiB; Error once
   * the response was begun
   */
  setResponseHeader(name: string, value: string): void;
  /**
   * Adds a value to a header of the response and keeps existing values; otherwise likewise. A
   * header that can have only one value in HTTP, such as `ETag`, cannot get a second one.
   *
   * @throws as `setResponseHeader` does; TypeError for a second value of such a header
   */
  appendResponseHeader(name: string, value: string): void;
  /**
   * Sets trailing metadata of the response, which gRPC, gRPC-Web and Connect send with its status.
   * It is not sent over an HTTP route.
   *
   * @throws TypeError for one that cannot be sent, or if all are larger than 16 KiB; Error once
   * the response was ended
   */
  setResponseTrailer(name: string, value: string): void;
  /**
   * Adds a value to trailing metadata and keeps existing values; otherwise likewise.
   *
   * @throws as `setResponseTrailer` does
   */
  appendResponseTrailer(name: string, value: string): void;
}

/**
 * The authenticated caller (docs/requirements.md, AUTHN-9). A text that the source does not have is
 * empty.
 */
export interface Principal {
  /** The id of the caller, unique among those of its type: the object id in authorization. */
  readonly subjectId: string;
  /** The subject type of the authorization model: `user` or `service_account` from the gateway or a JWT, `service` from an internal token. */
  readonly subjectType: string;
  /** The name that the caller logs in with. */
  readonly username: string;
  /** The display name. */
  readonly name: string;
  /** The e-mail address, which was not verified here. */
  readonly email: string;
  /** The organization that the caller belongs to: the claim `owner` of a token. */
  readonly organizationId: string;
  /** The groups, as the source names them; no authorization is decided on them. */
  readonly groups: readonly string[];
  /** The roles, likewise. */
  readonly roles: readonly string[];
  /** The scopes of the token (OAuth 2.0), likewise. */
  readonly scopes: readonly string[];
  /** Where the authentication comes from. */
  readonly source: "gateway" | "jwt" | "internal";
  /**
   * The session that the token of the call belongs to: its claim `sid`. Absent where the token has
   * none, and for callers whom the gateway names: no identity header carries it.
   */
  readonly sessionId?: string;
}

/** An event that code of a service records: in a call (`context.audit.record`), or outside (`openAuditRecorder`). */
export interface AuditRecord {
  /** Lower-case words joined by dots, such as `session.revoke`; at most 128 characters. */
  readonly event: string;
  /** How much harm it can do; LOW if absent. */
  readonly riskLevel?: RiskLevel;
  /** The object that it is about, as `type:id`. */
  readonly resource?: string;
  /**
   * Further details: at most 16 short values, with names of lower-case letters, digits and `_`.
   * Never a secret: values that look like one, or have the name of one, are omitted.
   */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
  /**
   * For what must not happen without its event, which is then recorded before: `record` throws UNAVAILABLE if it
   * cannot be stored now, instead of storing it once the database is back.
   */
  readonly mustBeStored?: boolean;
}

/**
 * What a handler adds to the audit of its call (docs/requirements.md, AUDIT-5).
 *
 * @example
 * ```ts
 * async function recordSharing(itemId: string, { audit }: CallContext): Promise<void> {
 *   audit.setResource(`item:${itemId}`);
 *   await audit.record({
 *     event: "item.share",
 *     riskLevel: "HIGH",
 *     resource: `item:${itemId}`,
 *     details: { readers: 3, reason: "review" },
 *   });
 * }
 * ```
 */
export interface CallAudit {
  /**
   * Names the object that the call is about, such as one that the handler created, instead of that
   * of the policy; the authorized object stays in the event. It has no effect if the RPC is not
   * audited.
   *
   * @param resource `type:id`
   * @throws TypeError if that is not a valid object; Error once the event was completed
   */
  setResource(resource: string): void;
  /**
   * Stores a further event, linked to the call. Resolves when it is stored, or waits for the
   * database. A call records at most 100. Work that outlasts the call may still record events, even
   * if its caller has disconnected.
   *
   * @throws TypeError for an event that is not valid; RangeError for one too many; Error where the
   * service has no database, or its server has ended; ServiceError UNAVAILABLE for one with `mustBeStored`
   */
  record(event: AuditRecord): Promise<void>;
}

/** Of a service without a database. */
export const NO_AUDIT: CallAudit = {
  setResource() {},
  async record() {
    throw new Error(
      "audit events cannot be stored: configure database, such as {driver: sqlite, file: …}",
    );
  },
};

/**
 * Handles an RPC with one request and one response. It refuses by throwing a `ServiceError`; all
 * other errors are INTERNAL, without details.
 *
 * @example
 * ```ts
 * const handler: UnaryHandler<{ itemId: string }, { text: string }> = async ({ itemId }, context) => {
 *   const { subjectId } = requirePrincipal(context);
 *   return { text: `${subjectId} has read ${itemId}` };
 * };
 * ```
 */
export type UnaryHandler<Request, Response> = (
  request: Request,
  context: CallContext,
) => Promise<Response>;

/**
 * Handles an RPC with one request and a stream of responses. If the stream is left, such as when
 * the caller has cancelled, the generator ends at its `yield`.
 *
 * @example
 * ```ts
 * const handler: ServerStreamingHandler<{ itemId: string }, { text: string }> = async function* (
 *   { itemId },
 *   { signal },
 * ) {
 *   for await (const [text] of on(changes, itemId, { signal })) yield { text: String(text) };
 * };
 * ```
 */
export type ServerStreamingHandler<Request, Response> = (
  request: Request,
  context: CallContext,
) => AsyncIterable<Response>;

/**
 * Handles an RPC with a stream of requests and one response. The requests can be read once, and
 * arrive as the handler reads them.
 *
 * @example
 * ```ts
 * const handler: ClientStreamingHandler<{ chunk: Uint8Array }, { size: number }> = async (requests) => {
 *   let size = 0;
 *   for await (const { chunk } of requests) size += chunk.length;
 *   return { size };
 * };
 * ```
 */
export type ClientStreamingHandler<Request, Response> = (
  requests: AsyncIterable<Request>,
  context: CallContext,
) => Promise<Response>;

/**
 * Handles an RPC with a stream on both sides, each at its own pace.
 *
 * @example
 * ```ts
 * const handler: BidiStreamingHandler<{ text: string }, { text: string }> = async function* (requests) {
 *   for await (const { text } of requests) yield { text: text.toUpperCase() };
 * };
 * ```
 */
export type BidiStreamingHandler<Request, Response> = (
  requests: AsyncIterable<Request>,
  context: CallContext,
) => AsyncIterable<Response>;

/**
 * The caller, for handlers that need one.
 *
 * @throws ServiceError UNAUTHORIZED `missing principal` if nobody was identified
 * (docs/requirements.md, AUTHN-11)
 *
 * @example
 * ```ts
 * const { subjectType, subjectId } = requirePrincipal(context);
 * ```
 */
export function requirePrincipal({ principal }: Pick<CallContext, "principal">): Principal {
  if (principal === undefined) throw missingPrincipal();
  return principal;
}
