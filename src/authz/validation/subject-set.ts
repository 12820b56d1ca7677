import type { SubjectReference } from "../../model/relationship.ts";
import { formatSubjectReference } from "../../model/relationship-text.ts";

/** The relations in which a subject was found: `doc:readme#viewer`. */
export type Paths = ReadonlySet<string>;

/** A subject of a set. */
export interface MemberSubject {
  readonly subject: SubjectReference;
  readonly paths: Paths;
  /** Those that a wildcard excludes; empty otherwise. */
  readonly excluded: readonly SubjectReference[];
}

interface Wildcard {
  readonly paths: Paths;
  readonly excluded: ReadonlyMap<string, Paths>;
}

/** The subjects of one type, or the usersets of one type and relation. */
interface Group {
  readonly type: string;
  readonly relation: string | undefined;
  readonly concrete: Map<string, Paths>;
  wildcard: Wildcard | undefined;
}

/**
 * The subjects that an expression expands to, usersets as such beside their members, each with the
 * relations that name it. What an operator does to wildcards and to these relations is as in
 * SpiceDB's validation: a difference keeps the relations of its left side, and usersets are
 * subtracted from usersets only.
 */
export class SubjectSet {
  readonly #groups = new Map<string, Group>();

  /** Adds a subject that a relation names. */
  add({ type, id, relation }: SubjectReference, path: string): void {
    const group = this.#group(type, relation);
    const paths = new Set([path]);
    if (id === "*") addWildcard(group, { paths, excluded: new Map() });
    else addConcrete(group, id, paths);
  }

  /** Adds all of another set. */
  addAll(other: SubjectSet): void {
    for (const from of other.#groups.values()) {
      const group = this.#group(from.type, from.relation);
      for (const [id, paths] of from.concrete) addConcrete(group, id, paths);
      if (from.wildcard !== undefined) addWildcard(group, from.wildcard);
    }
  }

  /** Those of this set that are in another too. */
  intersect(other: SubjectSet): SubjectSet {
    const result = new SubjectSet();
    for (const [key, left] of this.#groups) {
      const right = other.#groups.get(key);
      if (right === undefined) continue;
      const group = result.#group(left.type, left.relation);
      group.wildcard = intersectWildcards(left.wildcard, right.wildcard);
      for (const id of new Set([...left.concrete.keys(), ...right.concrete.keys()])) {
        const inLeft = left.concrete.get(id) ?? coveredBy(left.wildcard, id);
        const inRight = right.concrete.get(id) ?? coveredBy(right.wildcard, id);
        if (inLeft === undefined || inRight === undefined) continue;
        const more = [coveredBy(left.wildcard, id), coveredBy(right.wildcard, id)];
        group.concrete.set(id, join(inLeft, inRight, ...more));
      }
    }
    return result;
  }

  /** Those of this set that are not in another. */
  exclude(other: SubjectSet): SubjectSet {
    const result = new SubjectSet();
    result.addAll(this);
    for (const [key, group] of result.#groups) {
      const right = other.#groups.get(key);
      if (right === undefined) continue;
      for (const [id, paths] of right.concrete) {
        group.concrete.delete(id);
        if (group.wildcard === undefined) continue;
        const excluded = new Map(group.wildcard.excluded);
        excluded.set(id, join(excluded.get(id), paths));
        group.wildcard = { ...group.wildcard, excluded };
      }
      if (right.wildcard !== undefined) excludeWildcard(group, right.wildcard);
    }
    return result;
  }

  /** Finds a subject as the set names it: a concrete one is not found through a wildcard. */
  get({ type, id, relation }: SubjectReference): MemberSubject | undefined {
    const group = this.#groups.get(keyOf(type, relation));
    if (group === undefined) return undefined;
    if (id === "*") return wildcardOf(group);
    const paths = group.concrete.get(id);
    return paths === undefined ? undefined : memberOf(group, id, paths);
  }

  /** All subjects, in the order of their names. */
  members(): MemberSubject[] {
    const members = [...this.#groups.values()].flatMap((group) => [...membersOf(group)]);
    const name = ({ subject }: MemberSubject) => formatSubjectReference(subject);
    return members.sort((left, right) => (name(left) < name(right) ? -1 : 1));
  }

  #group(type: string, relation: string | undefined): Group {
    const key = keyOf(type, relation);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { type, relation, concrete: new Map(), wildcard: undefined };
      this.#groups.set(key, group);
    }
    return group;
  }
}

function keyOf(type: string, relation: string | undefined): string {
  return relation === undefined ? type : `${type}#${relation}`;
}

function addConcrete(group: Group, id: string, paths: Paths): void {
  group.concrete.set(id, join(group.concrete.get(id), paths));
  const { wildcard } = group;
  if (wildcard?.excluded.has(id)) {
    const excluded = new Map(wildcard.excluded);
    excluded.delete(id);
    group.wildcard = { ...wildcard, excluded };
  }
}

function addWildcard(group: Group, added: Wildcard): void {
  const { wildcard, concrete } = group;
  // A subject that only one wildcard excludes is in the other, and named subjects are in as well.
  const excluded = new Map<string, Paths>();
  for (const [id, paths] of added.excluded) {
    if (wildcard !== undefined && !wildcard.excluded.has(id)) continue;
    if (!concrete.has(id)) excluded.set(id, join(wildcard?.excluded.get(id), paths));
  }
  group.wildcard = { paths: join(wildcard?.paths, added.paths), excluded };
}

function intersectWildcards(
  left: Wildcard | undefined,
  right: Wildcard | undefined,
): Wildcard | undefined {
  if (left === undefined || right === undefined) return undefined;
  const excluded = new Map(left.excluded);
  for (const [id, paths] of right.excluded) excluded.set(id, join(excluded.get(id), paths));
  return { paths: join(left.paths, right.paths), excluded };
}

function excludeWildcard(group: Group, right: Wildcard): void {
  for (const id of [...group.concrete.keys()]) {
    if (!right.excluded.has(id)) group.concrete.delete(id);
  }
  const left = group.wildcard;
  group.wildcard = undefined;
  if (left === undefined) return;
  // What the right side excludes from its wildcard remains in the left one.
  for (const [id, paths] of right.excluded) {
    if (!left.excluded.has(id)) addConcrete(group, id, paths);
  }
}

function coveredBy(wildcard: Wildcard | undefined, id: string): Paths | undefined {
  return wildcard === undefined || wildcard.excluded.has(id) ? undefined : wildcard.paths;
}

function* membersOf(group: Group): Iterable<MemberSubject> {
  for (const [id, paths] of group.concrete) yield memberOf(group, id, paths);
  const wildcard = wildcardOf(group);
  if (wildcard !== undefined) yield wildcard;
}

function memberOf({ type, relation }: Group, id: string, paths: Paths): MemberSubject {
  const subject = relation === undefined ? { type, id } : { type, id, relation };
  return { subject, paths, excluded: [] };
}

function wildcardOf({ type, wildcard }: Group): MemberSubject | undefined {
  if (wildcard === undefined) return undefined;
  const excluded = [...wildcard.excluded.keys()].sort().map((id) => ({ type, id }));
  return { subject: { type, id: "*" }, paths: wildcard.paths, excluded };
}

function join(...sets: readonly (Paths | undefined)[]): Paths {
  const given = sets.filter((set) => set !== undefined);
  return given.length === 1 && given[0] !== undefined
    ? given[0]
    : new Set(given.flatMap((set) => [...set]));
}
