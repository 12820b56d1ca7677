/** The meaning of rights, read from a plain list of relationships: an oracle that shares no code with the rules. */
import type { ObjectReference, Relationship } from "svc-access/authz";

export type Rank = "owner" | "admin";

/** What somebody holds by rank. */
export interface Held {
  readonly object: ObjectReference;
  readonly rank: Rank;
  readonly user: string;
}

const text = ({ type, id }: ObjectReference) => `${type}:${id}`;

/** The state of a small world with the model of IAM. */
export class PlainRights {
  readonly #subjects = new Map<string, Relationship["subject"][]>();
  readonly objects: readonly ObjectReference[];

  constructor(relationships: readonly Relationship[]) {
    const objects = new Map<string, ObjectReference>();
    for (const { resource, relation, subject } of relationships) {
      objects.set(text(resource), resource);
      const key = `${text(resource)}#${relation}`;
      this.#subjects.set(key, [...(this.#subjects.get(key) ?? []), subject]);
    }
    this.objects = [...objects.values()];
  }

  has(object: ObjectReference): boolean {
    return this.objects.some((other) => text(other) === text(object));
  }

  /** Whether a user holds a relation, directly or through groups. */
  holds(object: ObjectReference, relation: string, user: string): boolean {
    return this.#of(object, relation).some(({ type, id, relation: set }) =>
      set === undefined ? type === "user" && id === user : this.holds({ type, id }, set, user),
    );
  }

  /** An object and all above it. */
  above(object: ObjectReference): readonly ObjectReference[] {
    const over = ["zone", "parent"].flatMap((relation) => this.#of(object, relation));
    return [object, ...over.flatMap((one) => this.above({ type: one.type, id: one.id }))];
  }

  /** Whether a user has a rank on an object or above it; an owner counts as an admin. */
  ranks(object: ObjectReference, rank: Rank, user: string): boolean {
    const relations = rank === "owner" ? ["owner"] : ["owner", "admin"];
    return this.above(object).some((one) =>
      relations.some((relation) => this.holds(one, relation, user)),
    );
  }

  /** Whether a user may write `owner` or `admin` of an object. */
  mayGrant(object: ObjectReference, rank: Rank, user: string): boolean {
    return this.#manages(object, user) && this.ranks(object, rank, user);
  }

  /** Every rank that users hold, by a relation of the object itself or, if asked, by one above it. */
  *ranked(users: readonly string[], isAbove: boolean): Generator<Held> {
    for (const object of this.objects) {
      for (const rank of ["owner", "admin"] as const) {
        for (const user of users) {
          const holds = isAbove ? this.ranks(object, rank, user) : this.holds(object, rank, user);
          if (holds) yield { object, rank, user };
        }
      }
    }
  }

  #manages(object: ObjectReference, user: string): boolean {
    const up = (relation: string) =>
      this.#of(object, relation).some(({ type, id }) => this.#manages({ type, id }, user));
    const one = (...relations: string[]) =>
      relations.some((relation) => this.holds(object, relation, user));
    switch (object.type) {
      case "zone":
        return one("owner", "admin", "permission_admin");
      case "group":
        return one("owner", "permission_admin") || up("zone") || up("parent");
      case "organization":
        return one("owner", "admin");
      case "project":
        return one("owner", "admin") || up("parent");
      default:
        return false;
    }
  }

  #of(object: ObjectReference, relation: string): readonly Relationship["subject"][] {
    return this.#subjects.get(`${text(object)}#${relation}`) ?? [];
  }
}
