/**
 * The JSON documents of an output; buf indents them, so a document ends at a line `}`. For a message that is
 * not set it writes null, and other clients nothing.
 */
export function documentsOf(output: string): any[] {
  return output
    .split(/(?<=^(?:\}|\{\}))\n/m)
    .filter((text) => text.trim() !== "")
    .map((text) => JSON.parse(text, (_, value) => value ?? undefined));
}
