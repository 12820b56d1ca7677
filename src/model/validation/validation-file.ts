import type { SubjectReference } from "../relationship.ts";
import type { ObjectMember, WrittenRelationship } from "../relationship-text.ts";
import type { Position } from "../schema/model.ts";

/** A validation file, as `zed validate` reads them. */
export interface ValidationFile {
  /** The path, as its user names it. */
  readonly file: string;
  readonly schema: SchemaSource;
  readonly relationships: readonly PlacedRelationship[];
  readonly assertions: readonly Assertion[];
  readonly expectations: readonly Expectation[];
  /** What is odd and does no harm, one a line: keys that mean nothing. */
  readonly notes: readonly string[];
}

/** Where the schema of a validation file is. */
export type SchemaSource =
  /** In a file beside it. */
  | { readonly kind: "file"; readonly path: string; readonly position: Position }
  /** In the file itself; `placeOf` says where an offset of the text stands. */
  | {
      readonly kind: "text";
      readonly text: string;
      readonly placeOf: (offset: number) => Position;
    };

/** A relationship and where it stands. */
export interface PlacedRelationship extends WrittenRelationship {
  readonly text: string;
  readonly position: Position;
}

/** The lists of assertions. */
export const ASSERTION_KINDS = ["assertTrue", "assertFalse", "assertCaveated"] as const;
export type AssertionKind = (typeof ASSERTION_KINDS)[number];

/** A check and what must come of it. */
export interface Assertion extends PlacedRelationship {
  readonly kind: AssertionKind;
}

/** All subjects that a relation or permission of an object must have. */
export interface Expectation extends ObjectMember {
  readonly text: string;
  readonly position: Position;
  readonly subjects: readonly ExpectedSubject[];
}

/** A subject that must be found, and the relations where it is. */
export interface ExpectedSubject {
  readonly text: string;
  readonly position: Position;
  /** Absent where the line names none, which fails when it is run. */
  readonly subject?: SubjectReference;
  /** Whether it is expected under a caveat: `[user:x[...]]`. */
  readonly caveated: boolean;
  /** Those that a wildcard must not stand for. */
  readonly exceptions: readonly SubjectReference[];
  /** The relations that name it, as `<doc:readme#viewer>` writes them. */
  readonly paths: readonly ObjectMember[];
}
