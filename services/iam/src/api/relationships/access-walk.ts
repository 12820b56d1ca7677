import {
  type AuthorizationEngine,
  type MemberStep,
  memberSteps,
  type ObjectReference,
  type Relationship,
  type SubjectReference,
} from "svc-access/authz";
import { type EngineReads, mapSome } from "../../rights/engine-reads.ts";
import { formatSubject, objectText } from "../../rights/relationships.ts";
import { notShown, type Visibility } from "./visibility.ts";

/** The most relationships that are followed. */
const MOST_RELATIONSHIPS = 10_000;
/** The most relations and permissions of objects that are read. */
const MOST_NODES = 1000;

/** Somebody who may hold a permission, and why. */
export interface FoundAccess {
  /** Absent where it is not shown. */
  readonly subject?: SubjectReference;
  /** From the resource to the subject. */
  readonly path: readonly Relationship[];
  /** What is not shown. */
  readonly notShown?: string;
}

/** A relation or permission of an object, and the path to it. */
interface Node {
  readonly object: ObjectReference;
  readonly name: string;
  readonly path: readonly Relationship[];
}

/**
 * Walks from a permission to its subjects, level by level, so that the first path to a subject is a shortest one. It
 * does not look below an object whose relationships the caller may not see. Whoever is found is in some part of the
 * permission: with an intersection or an exclusion a check decides.
 */
export class AccessWalk {
  readonly #engine: AuthorizationEngine;
  readonly #reads: EngineReads;
  readonly #visibility: Visibility;
  readonly #found = new Map<string, FoundAccess>();
  readonly #seen = new Set<string>();
  #relationships = 0;

  constructor(engine: AuthorizationEngine, reads: EngineReads, visibility: Visibility) {
    this.#engine = engine;
    this.#reads = reads;
    this.#visibility = visibility;
  }

  /** All that are found, by their texts, and whether there may be more. */
  async from(
    object: ObjectReference,
    name: string,
  ): Promise<{ readonly found: ReadonlyMap<string, FoundAccess>; readonly incomplete: boolean }> {
    let level: readonly Node[] = [{ object, name, path: [] }];
    while (level.length > 0 && !this.#isFull) level = await this.#walk(level);
    return { found: this.#found, incomplete: this.#isFull };
  }

  get #isFull(): boolean {
    return this.#relationships >= MOST_RELATIONSHIPS || this.#seen.size >= MOST_NODES;
  }

  async #walk(level: readonly Node[]): Promise<readonly Node[]> {
    const hidden = await this.#visibility.hidden(level.map(({ object }) => object));
    const cut = new Set(hidden.map(objectText));
    for (const { object, path } of level) {
      const text = notShown(object);
      if (cut.has(objectText(object)) && !this.#found.has(text)) {
        this.#found.set(text, { path, notShown: text });
      }
    }
    const shown = level.filter(({ object }) => !cut.has(objectText(object)));
    return (await mapSome(shown, (node) => this.#below(node))).flat();
  }

  /** What the members of a node are computed from, references of the same object resolved. */
  async #below({ object, name, path }: Node): Promise<readonly Node[]> {
    const { model } = this.#engine;
    const names = new Set([name]);
    const nodes: Node[] = [];
    for (const name of names) {
      const key = `${objectText(object)}#${name}`;
      if (this.#seen.has(key) || this.#isFull) continue;
      this.#seen.add(key);
      if (model.definitions.get(object.type)?.relations.has(name)) {
        nodes.push(...(await this.#subjects({ object, name, path })));
        continue;
      }
      for (const step of memberSteps(model, object.type, name)) {
        if (step.through === undefined) names.add(step.target.name);
        else nodes.push(...(await this.#related({ object, name, path }, step)));
      }
    }
    return nodes;
  }

  async #subjects({ object, name, path }: Node): Promise<readonly Node[]> {
    const sets: Node[] = [];
    for await (const relationship of this.#read(object, name)) {
      const { subject } = relationship;
      const { type, id, relation } = subject;
      const longer = [...path, relationship];
      if (relation !== undefined) {
        sets.push({ object: { type, id }, name: relation, path: longer });
      } else if (!this.#found.has(formatSubject(subject))) {
        this.#found.set(formatSubject(subject), { subject, path: longer });
      }
    }
    return sets;
  }

  async #related(
    { object, path }: Node,
    { through, target }: MemberStep,
  ): Promise<readonly Node[]> {
    const nodes: Node[] = [];
    if (through === undefined) return nodes;
    for await (const relationship of this.#read(object, through.relation)) {
      const { type, id } = relationship.subject;
      if (type !== through.subjectType) continue;
      nodes.push({ object: { type, id }, name: target.name, path: [...path, relationship] });
    }
    return nodes;
  }

  async *#read({ type, id }: ObjectReference, relation: string): AsyncGenerator<Relationship> {
    const filter = { resourceType: type, resourceId: id, relation };
    for await (const page of this.#reads.pages(filter)) {
      for (const relationship of page) {
        if (this.#isFull) return;
        this.#relationships++;
        yield relationship;
      }
    }
  }
}
