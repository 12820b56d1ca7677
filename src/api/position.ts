/**
 * A place in a protobuf file: the file and the descriptor path of an element,
 * as `google.protobuf.SourceCodeInfo.Location.path` numbers it.
 */
export interface DescriptorPosition {
  readonly file: string;
  readonly path: readonly number[];
}

/** A place in a text file that is not a protobuf file, such as `svc-access.yaml`. */
export interface TextPosition {
  readonly file: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
}

/** Where something was declared; a locator turns it into a line and a column. */
export type Position = DescriptorPosition | TextPosition;

/** A place in a protobuf file below another one. */
export function below(position: DescriptorPosition, ...path: number[]): DescriptorPosition {
  return { file: position.file, path: position.path.concat(path) };
}
