/** An object: `type:id`. */
export interface ObjectReference {
  /** A type of the model, such as `skill`. */
  readonly type: string;
  /** 1 to 256 bytes of UTF-8 without `#`, `*`, white space and control characters (docs/requirements.md, AUTHZ-6). */
  readonly id: string;
}

/** The subject of a relationship: an object, a userset (`group:eng#member`), or all objects of a type (`user:*`). */
export interface SubjectReference {
  /** A type of the model, such as `user`. */
  readonly type: string;
  /** The object id; `*` for all objects of the type. */
  readonly id: string;
  /** The relation of a userset, such as `member`; absent for the object itself. */
  readonly relation?: string;
}

/**
 * A relationship: the subject has the relation to the resource.
 *
 * @example
 * ```ts
 * // skill:etl#reviewer@group:eng#member
 * const relationship: Relationship = {
 *   resource: { type: "skill", id: "etl" },
 *   relation: "reviewer",
 *   subject: { type: "group", id: "eng", relation: "member" },
 * };
 * ```
 */
export interface Relationship {
  /** What the relation is to. */
  readonly resource: ObjectReference;
  /** A relation of the resource's type: it is written, where permissions are computed. */
  readonly relation: string;
  /** Who has it. */
  readonly subject: SubjectReference;
}

/** Selects the relationships that match all fields of the filter. */
export interface RelationshipFilter {
  /** The type of the resource. */
  readonly resourceType?: string;
  /** The id of the resource. */
  readonly resourceId?: string;
  /** The relation. */
  readonly relation?: string;
  /** The subject: those that match every field that is given. */
  readonly subject?: {
    /** The type of the subject. */
    readonly type: string;
    /** The id of the subject; `*` for the wildcard itself. */
    readonly id?: string;
    /** The relation of a userset; empty for objects only; absent for both. */
    readonly relation?: string;
  };
}
