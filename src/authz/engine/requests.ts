import type {
  ObjectReference,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "../../model/relationship.ts";

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
  /**
   * Whether a read must see every write that any process has made before, at the cost of speed; false
   * if absent. The embedded engine always does.
   */
  readonly newest?: boolean;
}

/** Whether a subject holds a permission or relation on a resource. */
export interface CheckRequest {
  /** The object that is asked about. */
  readonly resource: ObjectReference;
  /** A permission or a relation of the resource's type. */
  readonly permission: string;
  /** The subject: an object or a userset, never `*`. */
  readonly subject: SubjectReference;
}

/** Whether a subject holds a permission or relation on at least one resource of a type. */
export interface CheckAnyRequest {
  /** The type of the objects that are asked about. */
  readonly resourceType: string;
  /** A permission or a relation of the type. */
  readonly permission: string;
  /** The subject: an object or a userset, never `*`. */
  readonly subject: SubjectReference;
}

/** The decision of a check. */
export interface CheckResult {
  /** Whether the subject holds it. */
  readonly allowed: boolean;
  /** The state of the relationships that it was decided on. */
  readonly revision: Revision;
}

/** The decision of one check of many, or why there is none. */
export type BulkCheckItem =
  | {
      /** Whether the subject holds it. */
      readonly allowed: boolean;
      readonly error?: undefined;
    }
  | {
      readonly allowed?: undefined;
      /** Why there is no decision: an `AuthzError`. */
      readonly error: Error;
    };

/**
 * How a relationship is written: CREATE refuses one that exists, TOUCH writes it whether or not it
 * exists, DELETE removes it if it exists.
 */
export type WriteOperation = "CREATE" | "TOUCH" | "DELETE";

/** One change of a write. */
export interface RelationshipUpdate {
  /** The operation. */
  readonly operation: WriteOperation;
  /** The relationship; at most once per write. */
  readonly relationship: Relationship;
}

/** What must hold for a write to happen. */
export interface Precondition {
  /** Whether at least one stored relationship must match the filter, or none may. */
  readonly kind: "MUST_MATCH" | "MUST_NOT_MATCH";
  /** Selects the relationships; it may not be empty. */
  readonly filter: RelationshipFilter;
}

/**
 * Changes that are applied completely or not at all (docs/requirements.md, ENG-4).
 *
 * @example
 * ```ts
 * const resource = { type: "skill", id: "etl" };
 * const request: WriteRequest = {
 *   updates: [
 *     {
 *       operation: "TOUCH",
 *       relationship: { resource, relation: "owner", subject: { type: "user", id: "alice" } },
 *     },
 *   ],
 *   // Only if nobody owns it yet.
 *   preconditions: [
 *     { kind: "MUST_NOT_MATCH", filter: { resourceType: "skill", resourceId: "etl", relation: "owner" } },
 *   ],
 * };
 * ```
 */
export interface WriteRequest {
  /** What is written: 1 to `MAX_UPDATES`. */
  readonly updates: readonly RelationshipUpdate[];
  /** What must hold before; at most `MAX_PRECONDITIONS`. */
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
  /** The most results of the page: 1 to `MAX_PAGE_SIZE`; `MAX_PAGE_SIZE` if absent. */
  readonly pageSize?: number;
  /** The cursor of the page before; absent for the first. It pins the revision, or is refused as OUT_OF_RANGE. */
  readonly cursor?: string;
  /**
   * Whether any results do, in no order, also without a next page: those are never too many. Only
   * `readRelationships` does so, and that of SpiceDB gives its usual page, which has no limit; false if absent.
   */
  readonly any?: boolean;
}

/** A page of a listing. */
export interface Page<Item> {
  /** The results; a page that is not the last may have fewer than were asked for. */
  readonly items: Item[];
  /** Asks for the next page; absent on the last one. */
  readonly nextCursor?: string;
  /** The state of the relationships that they are of. */
  readonly revision: Revision;
}

/** Which resources of a type a subject holds a permission on. */
export interface LookupResourcesRequest extends CheckAnyRequest, PageRequest {}

/** Which subjects of a type hold a permission on a resource. */
export interface LookupSubjectsRequest extends PageRequest {
  /** The object that is asked about. */
  readonly resource: ObjectReference;
  /** A permission or a relation of the resource's type. */
  readonly permission: string;
  /** The type of the subjects that are listed. */
  readonly subjectType: string;
  /** The relation of usersets; absent for objects themselves. */
  readonly subjectRelation?: string;
}

/**
 * A subject that holds a permission. Beside `*`, which means all but those that it excludes,
 * some of those that it includes may be listed as well.
 */
export interface FoundSubject {
  /** The object id; `*` for all of the type but those excluded. */
  readonly id: string;
  /** The ids that `*` does not include, sorted; empty otherwise. */
  readonly excluded: readonly string[];
}

/** A step of a decision: the question, the result, and the steps below. */
export interface Explanation {
  /** The object that this step asks about. */
  readonly resource: ObjectReference;
  /** The permission or relation that it asks for. */
  readonly permission: string;
  /** The result. */
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
  /** The steps tried: for an allowed check the deciding one, for a denied check all. */
  readonly children: readonly Explanation[];
}

/** A decision with its reasons. */
export interface ExplainResult extends CheckResult {
  /** The first step: the check itself. */
  readonly explanation: Explanation;
}

/** What one write changed. */
export interface Change {
  /** The state that the write made; `watch` continues after it. */
  readonly revision: Revision;
  /** What was written; SpiceDB reports a CREATE as a TOUCH. */
  readonly updates: readonly RelationshipUpdate[];
}
