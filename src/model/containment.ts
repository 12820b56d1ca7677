import { caveatMeaning, definitionMeaning } from "./meaning.ts";
import type { Caveat, Definition, Model, Position } from "./schema/model.ts";

/** A definition or caveat of a model that another model lacks, or has with another meaning. */
export interface ModelGap {
  readonly kind: "definition" | "caveat";
  readonly name: string;
  /** The relations and permissions that differ, by name; absent if the definition is missing. */
  readonly differs?: readonly string[];
  /** Its position in the model that must be contained. */
  readonly position: Position;
  /** Its position in the other model, if it has another meaning there. */
  readonly otherPosition?: Position;
}

/**
 * Finds the gaps that keep a model from being contained in another, which must have each of its
 * definitions and caveats with the same meaning. An engine with the other model then makes the same
 * decisions.
 *
 * @returns the gaps in the order of the part; empty if it is contained
 */
export function findGaps(whole: Model, part: Model): ModelGap[] {
  const gaps: ModelGap[] = [];
  for (const definition of part.definitions.values()) {
    const { name, position } = definition;
    const other = whole.definitions.get(name);
    if (other === undefined) gaps.push({ kind: "definition", name, position });
    else {
      const differs = differingMembers(definition, other);
      if (differs.length === 0) continue;
      const otherPosition = other.position;
      gaps.push({ kind: "definition", name, differs, position, otherPosition });
    }
  }
  for (const caveat of part.caveats.values()) {
    const { name, position } = caveat;
    const other = whole.caveats.get(name);
    if (other === undefined) gaps.push({ kind: "caveat", name, position });
    else if (!isSameCaveat(caveat, other)) {
      gaps.push({ kind: "caveat", name, differs: [], position, otherPosition: other.position });
    }
  }
  return gaps;
}

/** The relations and permissions in which two definitions with one name differ, by name. */
export function differingMembers(left: Definition, right: Definition): string[] {
  const [one, other] = [definitionMeaning(left), definitionMeaning(right)];
  return [...new Set([...one.keys(), ...other.keys()])]
    .filter((name) => one.get(name) !== other.get(name))
    .sort();
}

/** Whether two caveats with one name have the same meaning. */
export function isSameCaveat(left: Caveat, right: Caveat): boolean {
  return caveatMeaning(left) === caveatMeaning(right);
}

/** The maximum number of gaps in a message. */
const MAX_NAMED = 5;

/** The gaps as a phrase: `it lacks bill; its order differs (owner, view)`. */
export function formatGaps(gaps: readonly ModelGap[]): string {
  const missing = gaps.filter(({ differs }) => differs === undefined);
  const different = gaps.filter(({ differs }) => differs !== undefined);
  const phrases: string[] = [];
  if (missing.length > 0) phrases.push(`it lacks ${named(missing.map(({ name }) => name))}`);
  for (const { name, differs = [] } of different.slice(0, MAX_NAMED)) {
    phrases.push(`its ${name} differs${differs.length === 0 ? "" : ` (${named(differs)})`}`);
  }
  if (different.length > MAX_NAMED) phrases.push(`${different.length - MAX_NAMED} more differ`);
  return phrases.join("; ");
}

function named(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return more > 0 ? `${names.slice(0, MAX_NAMED).join(", ")} and ${more} more` : names.join(", ");
}
