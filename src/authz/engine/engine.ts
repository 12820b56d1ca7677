import type {
  ObjectReference,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "../../model/relationship.ts";
import type { AuthzError } from "./authz-error.ts";

/**
 * An opaque revision token: the state of the relationships that a write made or
 * a read saw. Tokens of one engine and store are valid there only.
 */
export type Revision = string;

/** What every call may carry. */
export interface CallOptions {
  /** Aborts the call: CANCELLED, or DEADLINE_EXCEEDED where the signal's reason is a TimeoutError. */
  readonly signal?: AbortSignal;
  /** The state that a read must see at least; the embedded engine always reads at head. */
  readonly atLeastAsFresh?: Revision;
}

/** Whether a subject holds a permission or relation on a resource. */
export interface CheckRequest {
  readonly resource: ObjectReference;
  /** A permission or a relation of the resource's type. */
  readonly permission: string;
  readonly subject: SubjectReference;
}

/** Whether a subject holds a permission or relation on at least one resource of a type. */
export interface CheckAnyRequest {
  readonly resourceType: string;
  /** A permission or a relation of the type. */
  readonly permission: string;
  readonly subject: SubjectReference;
}

/** The decision of a check. */
export interface CheckResult {
  readonly allowed: boolean;
  readonly revision: Revision;
}

/** The decision of one check of many, or why there is none. */
export type BulkCheckItem =
  | { readonly allowed: boolean; readonly error?: undefined }
  | { readonly allowed?: undefined; readonly error: Error };

/** How a relationship is written. */
export type WriteOperation = "CREATE" | "TOUCH" | "DELETE";

/** One change of a write. */
export interface RelationshipUpdate {
  readonly operation: WriteOperation;
  readonly relationship: Relationship;
}

/** What must hold for a write to happen. */
export interface Precondition {
  readonly kind: "MUST_MATCH" | "MUST_NOT_MATCH";
  readonly filter: RelationshipFilter;
}

/** Changes that happen all or not at all. */
export interface WriteRequest {
  /** At most `MAX_UPDATES`. */
  readonly updates: readonly RelationshipUpdate[];
  /** At most `MAX_PRECONDITIONS`. */
  readonly preconditions?: readonly Precondition[];
}

/** The most updates of a write. */
export const MAX_UPDATES = 1000;
/** The most preconditions of a write. */
export const MAX_PRECONDITIONS = 1000;
/** The most checks of a bulk check. */
export const MAX_BULK_CHECKS = 10_000;
/** The most results of a page. */
export const MAX_PAGE_SIZE = 1000;

/** Which page of a listing. */
export interface PageRequest {
  /** From 1 to `MAX_PAGE_SIZE`; `MAX_PAGE_SIZE` where absent. */
  readonly pageSize?: number;
  /** The cursor of the page before; absent for the first. It pins the revision, or is refused as OUT_OF_RANGE. */
  readonly cursor?: string;
}

/** A page of a listing. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
  readonly revision: Revision;
}

/** Which resources of a type a subject holds a permission on. */
export interface LookupResourcesRequest extends CheckAnyRequest, PageRequest {}

/** Which subjects of a type hold a permission on a resource. */
export interface LookupSubjectsRequest extends PageRequest {
  readonly resource: ObjectReference;
  readonly permission: string;
  readonly subjectType: string;
  /** The relation of usersets; absent for objects themselves. */
  readonly subjectRelation?: string;
}

/**
 * A subject that holds a permission. Beside `*`, which stands for all but those that it excludes,
 * some of those that it stands for may be listed as well.
 */
export interface FoundSubject {
  /** The object id; `*` for all of the type but those excluded. */
  readonly id: string;
  /** The ids that `*` does not stand for, sorted; empty otherwise. */
  readonly excluded: readonly string[];
}

/** A step of a decision: what was asked, what came of it, and the steps below. */
export interface Explanation {
  readonly resource: ObjectReference;
  readonly permission: string;
  readonly allowed: boolean;
  /** How this step decides: a relation's own subjects, or how the steps below combine. */
  readonly kind:
    | "relation"
    | "union"
    | "intersection"
    | "exclusion"
    | "arrow"
    | "self"
    | "nil"
    | "cycle";
  /** The relationship that decides, of a relation that allows. */
  readonly relationship?: Relationship;
  /** The steps tried: on an allowed check the one that decides, on a denied one all. */
  readonly children: readonly Explanation[];
}

/** A decision with its reasons. */
export interface ExplainResult extends CheckResult {
  readonly explanation: Explanation;
}

/** What one write changed. */
export interface Change {
  readonly revision: Revision;
  readonly updates: readonly RelationshipUpdate[];
}

/** Whether an engine can answer. */
export interface Readiness {
  readonly ready: boolean;
  /** Why not. */
  readonly reason?: string;
}

/**
 * An authorization engine: relationships in, decisions out. The semantics are
 * SpiceDB's. Every method rejects with an `AuthzError`.
 */
export interface AuthorizationEngine {
  readonly kind: "embedded" | "spicedb";

  /** Decides a check. */
  check(request: CheckRequest, options?: CallOptions): Promise<CheckResult>;
  /**
   * The same without waiting, at head; absent where a check must ask another process.
   *
   * @throws AuthzError as `check` rejects
   */
  readonly checkNow?: ((request: CheckRequest) => CheckResult) | undefined;

  /** Decides many checks at one revision, each by itself; at most `MAX_BULK_CHECKS`. */
  checkBulk(
    requests: readonly CheckRequest[],
    options?: CallOptions,
  ): Promise<{ readonly items: readonly BulkCheckItem[]; readonly revision: Revision }>;

  /**
   * Decides whether `lookupResources` would find anything; it ends with the first resource
   * that is found.
   */
  checkAny(request: CheckAnyRequest, options?: CallOptions): Promise<CheckResult>;

  /** Says which path allowed a check; on a denial, which branches were tried. */
  explain(request: CheckRequest, options?: CallOptions): Promise<ExplainResult>;

  /** Writes relationships, atomically. Acknowledged only once it is durable. */
  writeRelationships(
    request: WriteRequest,
    options?: CallOptions,
  ): Promise<{ readonly revision: Revision }>;

  /** Lists the relationships that match a filter. */
  readRelationships(
    filter: RelationshipFilter,
    page?: PageRequest,
    options?: CallOptions,
  ): Promise<Page<Relationship>>;

  /** Lists the ids of the resources that a subject holds a permission on. */
  lookupResources(request: LookupResourcesRequest, options?: CallOptions): Promise<Page<string>>;

  /** Lists the subjects that hold a permission on a resource. */
  lookupSubjects(
    request: LookupSubjectsRequest,
    options?: CallOptions,
  ): Promise<Page<FoundSubject>>;

  /** The changes after a revision, as they happen; after head where absent. */
  watch(from?: Revision, options?: CallOptions): AsyncIterable<Change>;

  /** Whether the engine can answer now. */
  ready(): Promise<Readiness>;

  /**
   * Names who is notified that the engine answers no longer until the process is started again, and why.
   * Absent where that cannot be.
   */
  onFailure?(listener: (error: AuthzError) => void): void;

  /** Ends the engine; what was acknowledged is kept. */
  close(): Promise<void>;
}
