import { expect } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Variables } from "../../src/config/variables.ts";
import { markedPlaces, withoutMarks } from "../rules/marks.ts";

/** All errors in a text, one per line: `line:column rule message`. */
export function findingsOf(text: string, variables: Variables = {}): string[] {
  const result = loadConfig(text, "svc-access.yaml", variables);
  if (result.loaded !== undefined) return [];
  return result.diagnostics.map(({ line, column, rule, message }) => {
    return `${line}:${column} ${rule} ${message}`;
  });
}

/** Expects exactly these findings in a text, each as `RULE part of the message`, at the marks `⟦`. */
export function expectFindings(
  text: string,
  expected: readonly string[],
  variables: Variables = {},
): void {
  const places = markedPlaces(text);
  expect(findingsOf(withoutMarks(text), variables)).toEqual(
    expected.map((finding, index) => expect.stringContaining(`${places[index]} ${finding}`)),
  );
}
