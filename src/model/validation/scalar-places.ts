import type { LineCounter, Scalar } from "yaml";
import type { Position } from "../position.ts";

/** A part of a scalar's value, and where it stands in the file. */
interface Segment {
  readonly start: number;
  readonly place: Position;
}

/**
 * Where each offset of a scalar's value stands in its file.
 *
 * The value of a block or of a folded text has lost its indentation and perhaps its line breaks,
 * so each line of the source is looked for in the value, in order.
 */
export function placesOf(
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
