/** Stands in a text before each place that a finding must have. */
export const MARK = "⟦";

/** The text as its author would have written it. */
export function withoutMarks(text: string): string {
  return text.replaceAll(MARK, "");
}

/** The places of the marks, as `line:column` of what follows each, from 1. */
export function markedPlaces(text: string): string[] {
  return text.split("\n").flatMap((line, index) => {
    const pieces = line.split(MARK);
    return pieces.slice(0, -1).map((_, mark) => {
      const column = pieces.slice(0, mark + 1).join("").length + 1;
      return `${index + 1}:${column}`;
    });
  });
}
