/** A place in the text of a model: line and column from 1, the column in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}
