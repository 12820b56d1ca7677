import type { Model } from "../../model/index.ts";
import type { Relationship, RelationshipFilter } from "../../model/relationship.ts";
import type { AuthzError } from "./authz-error.ts";
import type { EngineKind } from "./engine-kinds.ts";
import type {
  BulkCheckItem,
  CallOptions,
  Change,
  CheckAnyRequest,
  CheckRequest,
  CheckResult,
  ExplainResult,
  FoundSubject,
  LookupResourcesRequest,
  LookupSubjectsRequest,
  Page,
  PageRequest,
  Revision,
  WriteRequest,
} from "./requests.ts";

/** Whether an engine can answer. */
export interface Readiness {
  /** Whether it can answer now. */
  readonly ready: boolean;
  /** Why not; absent if it can. */
  readonly reason?: string;
}

/** The connections of a store to its database. */
export interface StoreConnections {
  /** How many are in use; the one that holds the lock always is. */
  readonly used: number;
  /** How many are open and not in use. */
  readonly idle: number;
  /** How many requests wait for a connection. */
  readonly waiting: number;
}

/**
 * An authorization engine: relationships in, decisions out. The semantics are SpiceDB's. Every
 * method rejects with an `AuthzError`, and an uncertain result is an error, never a decision
 * (docs/requirements.md, ENG-1).
 *
 * @example
 * ```ts
 * const { revision } = await engine.writeRelationships({
 *   updates: [
 *     {
 *       operation: "TOUCH",
 *       relationship: {
 *         resource: { type: "skill", id: "etl" },
 *         relation: "owner",
 *         subject: { type: "user", id: "alice" },
 *       },
 *     },
 *   ],
 * });
 * const { allowed } = await engine.check(
 *   {
 *     resource: { type: "skill", id: "etl" },
 *     permission: "publish",
 *     subject: { type: "user", id: "alice" },
 *   },
 *   { atLeastAsFresh: revision },
 * );
 * ```
 */
export interface AuthorizationEngine {
  /** Which engine it is: one in this process, a SpiceDB, or the IAM service of the platform. */
  readonly kind: EngineKind;

  /** The model that it decides by, and that requests are checked against. */
  readonly model: Model;

  /**
   * Decides a check. A caller of a type that the model does not have (`user`, `service_account` or
   * `service`) holds nothing: its checks are denied, and its lists are empty.
   *
   * @throws AuthzError INVALID_ARGUMENT for a request that the model has no answer to; another code, such
   * as UNAVAILABLE or DEADLINE_EXCEEDED, where no decision was reached
   */
  check(request: CheckRequest, options?: CallOptions): Promise<CheckResult>;
  /**
   * The same without waiting, at head; absent if a check must ask another process.
   *
   * @throws AuthzError as `check` rejects
   */
  readonly checkNow?: ((request: CheckRequest) => CheckResult) | undefined;

  /**
   * The revision of head, without waiting; absent if another process must be asked. As long as it is the same, so is
   * all that was read at head.
   *
   * @throws AuthzError as `check` rejects
   */
  readonly headNow?: (() => Revision) | undefined;

  /**
   * Decides many checks at one revision, each by itself: one that cannot be decided is an item with an
   * error.
   *
   * @param requests at most `MAX_BULK_CHECKS`
   * @throws AuthzError INVALID_ARGUMENT for too many of them; as `check` does if none could be decided
   */
  checkBulk(
    requests: readonly CheckRequest[],
    options?: CallOptions,
  ): Promise<{
    /** The decisions, in the order of the requests. */
    readonly items: readonly BulkCheckItem[];
    /** The state of the relationships that they were made on. */
    readonly revision: Revision;
  }>;

  /** Decides whether `lookupResources` would find anything; it stops at the first resource. */
  checkAny(request: CheckAnyRequest, options?: CallOptions): Promise<CheckResult>;

  /**
   * Says which path allowed a check; on a denial, which branches were tried. It may name what the
   * subject may not see.
   *
   * @example
   * ```ts
   * const { allowed, explanation } = await engine.explain({
   *   resource: { type: "item", id: "first" },
   *   permission: "write",
   *   subject: { type: "user", id: "bob" },
   * });
   * const tried = explanation.children.map(({ resource, permission }) => `${resource.id}#${permission}`);
   * console.log(allowed, tried);
   * ```
   */
  explain(request: CheckRequest, options?: CallOptions): Promise<ExplainResult>;

  /**
   * Writes relationships, atomically. Acknowledged only once it is durable.
   *
   * @throws AuthzError INVALID_ARGUMENT for what the model does not allow; ALREADY_EXISTS for a CREATE of
   * what exists; FAILED_PRECONDITION if a precondition fails or a cycle would close; after
   * UNAVAILABLE and DEADLINE_EXCEEDED it may have happened
   */
  writeRelationships(
    request: WriteRequest,
    options?: CallOptions,
  ): Promise<{
    /** The state that the write made. */
    readonly revision: Revision;
  }>;

  /**
   * Lists the relationships that match a filter, a page at a time.
   *
   * @throws AuthzError OUT_OF_RANGE for a cursor whose revision is no longer kept; likewise the lookups
   */
  readRelationships(
    filter: RelationshipFilter,
    page?: PageRequest,
    options?: CallOptions,
  ): Promise<Page<Relationship>>;

  /**
   * The same without waiting, at head. Absent if a listing must ask another process.
   *
   * @returns undefined if it would take long: then use `readRelationships`
   * @throws AuthzError as `readRelationships` rejects
   */
  readonly readRelationshipsNow?:
    | ((filter: RelationshipFilter, page?: PageRequest) => Page<Relationship> | undefined)
    | undefined;

  /**
   * Lists the ids of the resources that a subject holds a permission on, a page at a time.
   *
   * @example
   * ```ts
   * const request = {
   *   resourceType: "item",
   *   permission: "read",
   *   subject: { type: "user", id: "alice" },
   * };
   * let page = await engine.lookupResources(request);
   * console.log(page.items);
   * while (page.nextCursor !== undefined) {
   *   page = await engine.lookupResources({ ...request, cursor: page.nextCursor });
   *   console.log(page.items);
   * }
   * ```
   */
  lookupResources(request: LookupResourcesRequest, options?: CallOptions): Promise<Page<string>>;

  /** Lists the subjects that hold a permission on a resource, a page at a time. */
  lookupSubjects(
    request: LookupSubjectsRequest,
    options?: CallOptions,
  ): Promise<Page<FoundSubject>>;

  /**
   * The changes after a revision, as they happen; after head if absent. It ends when the engine is
   * closed.
   *
   * @throws AuthzError CANCELLED when the signal aborts; OUT_OF_RANGE for a revision that is no
   * longer kept; UNAVAILABLE if the engine is lost: continue from the last revision
   *
   * @example
   * ```ts
   * for await (const { revision, updates } of engine.watch(undefined, { signal })) {
   *   console.log(revision, updates.length);
   * }
   * ```
   */
  watch(from?: Revision, options?: CallOptions): AsyncIterable<Change>;

  /** Whether the engine can answer now. It never rejects: once the signal aborts, it cannot. */
  ready(options?: Pick<CallOptions, "signal">): Promise<Readiness>;

  /**
   * Registers a callback that is called with the reason when the engine can no longer answer until
   * the process is restarted. Absent if that cannot happen.
   */
  onFailure?(listener: (error: AuthzError) => void): void;

  /** The connections of its store at this moment; absent or undefined if it has none to a server. */
  connections?(): StoreConnections | undefined;

  /** Closes the engine; acknowledged writes are kept. */
  close(): Promise<void>;
}
