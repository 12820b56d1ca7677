import { describe, expect, test } from "vitest";
import { type ModelRule, parseModel } from "../../src/model/index.ts";

/** A schema that breaks one rule; a `⟦` marks each position to report. */
export interface InvalidSchema {
  readonly schema: string;
  /** A part of each message, in order. */
  readonly messages: readonly string[];
}

/** Tables for a rule: schemas without any diagnostic, and schemas that break this rule only. */
export function testModelRule(
  rule: ModelRule,
  { valid, invalid }: { valid: readonly string[]; invalid: readonly InvalidSchema[] },
): void {
  describe(rule, () => {
    test.each(titled(valid, (schema) => schema))("accepts %s", (_title, schema) => {
      expect(parseModel(schema, "model.zed").diagnostics).toEqual([]);
    });
    test.each(titled(invalid, ({ schema }) => schema))("refuses %s", (_title, input) => {
      const { schema: marked, messages } = input;
      const { schema, places } = takeMarks(marked);
      const { diagnostics } = parseModel(schema, "model.zed");
      expect(diagnostics.map(({ rule, line, column }) => `${line}:${column} ${rule}`)).toEqual(
        places.map((place) => `${place} ${rule}`),
      );
      expect(messages).toHaveLength(diagnostics.length);
      messages.forEach((message, index) => {
        expect(diagnostics[index]?.message).toContain(message);
      });
    });
  });
}

/** Pairs each input with the end of its schema, in one line, as a name of its test. */
function titled<T>(inputs: readonly T[], schemaOf: (input: T) => string): [string, T][] {
  return inputs.map((input) => [JSON.stringify(schemaOf(input).slice(-100)), input]);
}

function takeMarks(marked: string): { schema: string; places: string[] } {
  const places: string[] = [];
  const schema = marked
    .split("\n")
    .map((line, index) => {
      const parts = line.split("⟦");
      for (let part = 1; part < parts.length; part++) {
        places.push(`${index + 1}:${parts.slice(0, part).join("").length + 1}`);
      }
      return parts.join("");
    })
    .join("\n");
  return { schema, places };
}
