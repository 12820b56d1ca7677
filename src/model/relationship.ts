/** An object: `type:id`. */
export interface ObjectReference {
  readonly type: string;
  readonly id: string;
}

/** The party of a relationship: an object, a userset (`group:eng#member`), or all of a type (`user:*`). */
export interface SubjectReference {
  readonly type: string;
  /** The object id; `*` for all of the type. */
  readonly id: string;
  /** The relation of a userset; absent for the object itself. */
  readonly relation?: string;
}

/** A relationship: the subject has the relation to the resource. */
export interface Relationship {
  readonly resource: ObjectReference;
  readonly relation: string;
  readonly subject: SubjectReference;
}

/** Which relationships are meant: those that match every field that is given. */
export interface RelationshipFilter {
  readonly resourceType?: string;
  readonly resourceId?: string;
  readonly relation?: string;
  readonly subject?: {
    readonly type: string;
    readonly id?: string;
    /** The relation of a userset; empty for objects themselves; absent for both. */
    readonly relation?: string;
  };
}
