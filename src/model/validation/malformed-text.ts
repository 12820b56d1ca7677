import { MalformedFileError } from "../../compiler/usage-error.ts";
import type { Position } from "../position.ts";

/** A file cannot be used, for what stands at a place of it. */
export function malformed(file: string, position: Position, message: string): MalformedFileError {
  return new MalformedFileError(`${file}:${position.line}:${position.column}: ${message}`);
}
