import type { LineCounter, Scalar } from "yaml";
import { MalformedFileError } from "../../diagnostics/usage-error.ts";
import type { Position } from "../schema/model.ts";

/** A part of a scalar's value, and its position in the file. */
interface Segment {
  readonly start: number;
  readonly place: Position;
}

/**
 * Maps offsets in a scalar's value to positions in its file.
 *
 * The value of a block or folded scalar lacks the indentation and perhaps the line breaks of the
 * source, so each line of the source is searched in the value, in order.
 */
export function scalarPositions(
  node: Scalar<string>,
  source: string,
  lines: LineCounter,
): (offset: number) => Position {
  const segments = segmentsOf(node, source, lines);
  return (offset) => {
    let low = 0;
    let high = segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((segments[middle]?.start ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const segment = segments[low];
    if (segment === undefined) return { line: 1, column: 1 };
    const { line, column } = segment.place;
    return { line, column: column + Math.max(0, offset - segment.start) };
  };
}

function segmentsOf(node: Scalar<string>, source: string, lines: LineCounter): Segment[] {
  const [from, to] = node.range ?? [0, 0];
  const block = node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
  const quoted = node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE";
  const segments: Segment[] = [];
  let cursor = 0;
  let offset = quoted ? from + 1 : from;
  const text = source.slice(offset, quoted ? to - 1 : to).split("\n");
  text.forEach((raw, index) => {
    const line = raw.trim();
    // The first line of a block is its header.
    if (line !== "" && !(block && index === 0)) {
      const found = node.value.indexOf(line, cursor);
      const start = found < 0 ? cursor : found;
      const { line: number, col } = lines.linePos(offset + raw.indexOf(line));
      segments.push({ start, place: { line: number, column: col } });
      if (found >= 0) cursor = found + line.length;
    }
    offset += raw.length + 1;
  });
  if (segments.length === 0) {
    const { line, col } = lines.linePos(from);
    segments.push({ start: 0, place: { line, column: col } });
  }
  return segments;
}

/** The offsets of the starts of lines. */
export function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Maps offsets of a text to positions. */
export function textPositions(text: string): (offset: number) => Position {
  const starts = lineStarts(text);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

/** An error at a position of a file that cannot be used. */
export function malformed(file: string, position: Position, message: string): MalformedFileError {
  return new MalformedFileError(`${file}:${position.line}:${position.column}: ${message}`);
}
