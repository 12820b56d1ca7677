import type { SubjectReference } from "../relationship.ts";
import type { ObjectMember, WrittenRelationship } from "../relationship-text.ts";
import type { Position } from "../schema/model.ts";

/** A validation file in the format of `zed validate`. */
export interface ValidationFile {
  /** The path, as the user wrote it. */
  readonly file: string;
  readonly schema: SchemaSource;
  readonly relationships: readonly PlacedRelationship[];
  readonly assertions: readonly Assertion[];
  readonly expectations: readonly Expectation[];
  /** Harmless problems, such as unknown keys, one per line. */
  readonly notes: readonly string[];
}

/** Where the schema of a validation file is. */
export type SchemaSource =
  /** In another file. */
  | { readonly kind: "file"; readonly path: string; readonly position: Position }
  /** In the file itself; `placeOf` maps offsets of the text to positions. */
  | {
      readonly kind: "text";
      readonly text: string;
      readonly placeOf: (offset: number) => Position;
    };

/** A relationship and its position. */
export interface PlacedRelationship extends WrittenRelationship {
  readonly text: string;
  readonly position: Position;
}

/** The lists of assertions. */
export const ASSERTION_KINDS = ["assertTrue", "assertFalse", "assertCaveated"] as const;
export type AssertionKind = (typeof ASSERTION_KINDS)[number];

/** A check and its expected result. */
export interface Assertion extends PlacedRelationship {
  readonly kind: AssertionKind;
}

/** All subjects that a relation or permission of an object must have. */
export interface Expectation extends ObjectMember {
  readonly text: string;
  readonly position: Position;
  readonly subjects: readonly ExpectedSubject[];
}

/** An expected subject, and the relations in which it is found. */
export interface ExpectedSubject {
  readonly text: string;
  readonly position: Position;
  /** Absent if the line names none; such a line fails. */
  readonly subject?: SubjectReference;
  /** Whether it is expected under a caveat: `[user:x[...]]`. */
  readonly caveated: boolean;
  /** The subjects that a wildcard must exclude. */
  readonly exceptions: readonly SubjectReference[];
  /** The relations of the subject, written as `<doc:readme#viewer>`. */
  readonly paths: readonly ObjectMember[];
}
