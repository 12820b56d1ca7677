import { differingMembers, isSameCaveat } from "./containment.ts";
import type { Caveat, Definition, Model, Position } from "./schema/model.ts";

/** A model and its file. */
export interface NamedModel {
  readonly file: string;
  readonly model: Model;
}

/** A name with different meanings in two models. */
export interface MergeConflict {
  readonly name: string;
  /** The difference in words: `the definition doc differs in owner, view`. */
  readonly what: string;
  readonly file: string;
  readonly position: Position;
  readonly otherFile: string;
  readonly otherPosition: Position;
}

/** Several models as one. */
export interface MergedModel {
  readonly model: Model;
  /** The files of each definition and caveat, in order. */
  readonly sources: ReadonlyMap<string, readonly string[]>;
  /** Empty if the model contains all of them. */
  readonly conflicts: readonly MergeConflict[];
}

type Declared =
  | { readonly kind: "definition"; readonly item: Definition }
  | { readonly kind: "caveat"; readonly item: Caveat };

/** Merges several models into one, independent of their order. */
export function mergeModels(models: readonly NamedModel[]): MergedModel {
  const definitions = new Map<string, Definition>();
  const caveats = new Map<string, Caveat>();
  const sources = new Map<string, string[]>();
  const first = new Map<string, { declared: Declared; file: string }>();
  const conflicts: MergeConflict[] = [];
  const sorted = [...models].sort((left, right) => (left.file < right.file ? -1 : 1));
  for (const { file, model } of sorted) {
    for (const declared of declarationsOf(model)) {
      const { name, position } = declared.item;
      const known = first.get(name);
      if (known === undefined) {
        first.set(name, { declared, file });
        sources.set(name, [file]);
        if (declared.kind === "definition") definitions.set(name, declared.item);
        else caveats.set(name, declared.item);
        continue;
      }
      const what = differenceOf(declared, known.declared);
      if (what === undefined) sources.get(name)?.push(file);
      else {
        const otherPosition = known.declared.item.position;
        conflicts.push({ name, what, file, position, otherFile: known.file, otherPosition });
      }
    }
  }
  return { model: { definitions, caveats }, sources, conflicts };
}

function* declarationsOf({ definitions, caveats }: Model): Iterable<Declared> {
  for (const item of definitions.values()) yield { kind: "definition", item };
  for (const item of caveats.values()) yield { kind: "caveat", item };
}

/** How two declarations with one name differ; undefined if they have the same meaning. */
function differenceOf(one: Declared, other: Declared): string | undefined {
  const { name } = one.item;
  if (one.kind === "caveat" && other.kind === "caveat") {
    return isSameCaveat(one.item, other.item) ? undefined : `the caveat ${name} differs`;
  }
  if (one.kind === "definition" && other.kind === "definition") {
    const members = differingMembers(one.item, other.item);
    if (members.length === 0) return undefined;
    return `the definition ${name} differs in ${listed(members)}`;
  }
  return `${name} is a ${one.kind} here and a ${other.kind} there`;
}

/** The maximum number of relations and permissions in a message. */
const MAX_NAMED = 8;

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return more > 0 ? `${names.slice(0, MAX_NAMED).join(", ")} and ${more} more` : names.join(", ");
}
