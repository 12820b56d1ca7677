/** What is replaced in a file of `src`, each place of it. */
export interface Edit {
  readonly file: string;
  readonly text: string;
  readonly by: string;
}

/** A rule that is removed from the sources. */
export interface Mutant {
  /** The rule of the design, as it holds. */
  readonly rule: string;
  readonly edits: readonly Edit[];
}

/** A rule that is one statement. */
export function without(rule: string, file: string, statement: string): Mutant {
  return { rule, edits: [{ file, text: statement, by: "void 0;" }] };
}

/** A rule that is less than a statement, or several of them. */
export function changed(
  rule: string,
  file: string,
  ...edits: readonly (readonly [text: string, by: string])[]
): Mutant {
  return { rule, edits: edits.map(([text, by]) => ({ file, text, by })) };
}

/**
 * The source of a file without the rule.
 *
 * @throws Error if the rule is not there as the table has it
 */
export function mutate(source: string, file: string, { rule, edits }: Mutant): string {
  let mutated = source;
  for (const { text, by } of edits.filter((edit) => edit.file === file)) {
    if (!mutated.includes(text)) {
      throw new Error(`"${rule}" is not found in ${file}: write down how the rule looks now`);
    }
    mutated = mutated.replaceAll(text, () => by);
  }
  return mutated;
}
