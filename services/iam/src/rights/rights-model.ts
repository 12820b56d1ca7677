import { type MemberStep, type Model, memberSteps } from "svc-access/authz";
import { didYouMean, ServiceError } from "svc-access/runtime";
import { mixedPermissions } from "./mixed-permissions.ts";

/** A relation of a type. */
export interface TypeRelation {
  readonly type: string;
  readonly relation: string;
}

/** Types whose relationships belong to the administration of permissions itself. */
const ADMINISTERED: ReadonlySet<string> = new Set(["zone", "group"]);
/** Relations that say where an object is, in every type. */
const PLACES: ReadonlySet<string> = new Set(["zone", "parent"]);
/** The relations of a zone that lead to the relations of others, besides `owner` and `admin`. */
const STRONG_ZONE_RELATIONS = ["permission_admin", "user_manager"] as const;

/** Relations that only some may grant. */
export type Rank = "owner" | "admin";

/** Whether a relation is granted by rank; of any type. */
export function isRank(relation: string): relation is Rank {
  return relation === "owner" || relation === "admin";
}

/**
 * What the rules of rights ask of a model. It may have more types than that of IAM: a platform's model contains
 * it. So nothing here depends on the names of other types.
 */
export class RightsModel {
  readonly #model: Model;
  readonly #places = new Map<string, ReadonlySet<string>>();
  readonly #strong: readonly TypeRelation[];
  /** Permissions that are not a plain union. */
  readonly #mixed: readonly TypeRelation[];
  /** Those through which strong relations are held. */
  readonly #strongMixed: readonly TypeRelation[];
  readonly #reached = new Map<string, ReadonlySet<string>>();

  constructor(model: Model) {
    this.#model = model;
    this.#strong = strongRelations(model);
    this.#mixed = mixedPermissions(model);
    this.#strongMixed = this.#mixed.filter((mixed) =>
      this.#strong.some((strong) => this.contributes(mixed, strong)),
    );
  }

  /** The relations of a type, in the order of the model; undefined if the model has no such type. */
  relations(type: string): readonly string[] | undefined {
    const definition = this.#model.definitions.get(type);
    return definition && [...definition.relations.keys()];
  }

  /**
   * @param relation of the type; undefined if only the type is checked
   * @throws ServiceError INVALID_ARGUMENT for what the model does not have
   */
  assertRelation(type: string, relation: string | undefined): void {
    const relations = this.relations(type);
    if (relations === undefined) {
      const types = [...this.#model.definitions.keys()];
      const hint = didYouMean(type, types) || `; its types are ${listed(types)}`;
      throw invalid(`the model has no type ${JSON.stringify(type)}${hint}`);
    }
    if (relation === undefined || relations.includes(relation)) return;
    const hint = `; it has ${listed(relations)}${didYouMean(relation, relations)}`;
    throw invalid(`the type ${type} has no relation ${JSON.stringify(relation)}${hint}`);
  }

  /** @throws ServiceError INVALID_ARGUMENT for a relation or permission that the model does not have */
  assertMember(type: string, name: string): void {
    this.assertRelation(type, undefined);
    if (this.#known(type, name) !== undefined) return;
    const { relations, permissions } = this.#model.definitions.get(type) ?? {};
    const names = [...(relations?.keys() ?? []), ...(permissions?.keys() ?? [])];
    const hint = didYouMean(name, names) || `; it has ${listed(names)}`;
    throw invalid(`the type ${type} has no relation or permission ${JSON.stringify(name)}${hint}`);
  }

  /** What a writer of relationships of a type must hold on the object; undefined if nobody can. */
  managePermission(type: string): string | undefined {
    return this.#known(type, ADMINISTERED.has(type) ? "manage_permissions" : "manage");
  }

  /** What a reader of relationships of a type must hold on the object; undefined if nobody can. */
  viewPermission(type: string): string | undefined {
    return this.#known(type, ADMINISTERED.has(type) ? "view_permissions" : "manage");
  }

  /** What a writer of a relation must hold on the object. */
  writePermission({ type, relation }: TypeRelation): string | undefined {
    if (type === "group" && relation === "member") return this.#known(type, "manage_members");
    return this.managePermission(type);
  }

  /**
   * The relations of a type that say where an object is: `zone` and `parent`, and those through which the
   * management of other objects reaches this one.
   */
  places(type: string): ReadonlySet<string> {
    const known = this.#places.get(type);
    if (known !== undefined) return known;
    const places = new Set<string>();
    for (const relation of this.relations(type) ?? []) {
      if (PLACES.has(relation)) places.add(relation);
    }
    const manage = this.managePermission(type);
    for (const { through } of manage === undefined ? [] : this.#ownSteps(type, manage)) {
      // A userset contributes its members, an arrow those who hold something on the object itself.
      if (
        through !== undefined &&
        through.subjectRelation === undefined &&
        !isRank(through.relation)
      ) {
        places.add(through.relation);
      }
    }
    this.#places.set(type, places);
    return places;
  }

  /** Whether a permission is not a plain union, as `member & cleared` or `member - banned`. */
  isMixedPermission({ type, relation }: TypeRelation): boolean {
    return this.#mixed.some((mixed) => mixed.type === type && mixed.relation === relation);
  }

  /** The relations of a type over which an arrow of a permission leads to objects of another type. */
  arrows({ type, relation: permission }: TypeRelation, to: string): readonly string[] {
    const relations = this.#ownSteps(type, permission).flatMap(({ through }) =>
      through?.subjectType === to && through.subjectRelation === undefined
        ? [through.relation]
        : [],
    );
    return [...new Set(relations)];
  }

  /** Whether a type has a relation of this name. */
  hasRelation({ type, relation }: TypeRelation): boolean {
    return this.#model.definitions.get(type)?.relations.has(relation) === true;
  }

  /**
   * What its subjects may become members of by a relation of an object: the relation itself, and the permissions
   * with an arrow over it. Only those through which other relations can be held.
   */
  usersets({ type, relation }: TypeRelation, to: readonly TypeRelation[]): readonly string[] {
    const { permissions } = this.#model.definitions.get(type) ?? {};
    const byArrow = [...(permissions?.keys() ?? [])].filter((permission) =>
      this.#ownSteps(type, permission).some(
        ({ through }) => through?.relation === relation && through.subjectRelation === undefined,
      ),
    );
    return [relation, ...byArrow].filter((name) =>
      to.some((other) => this.contributes({ type, relation: name }, other)),
    );
  }

  /**
   * Whether strong relations are held by a relation together with others, or unless others are held, as in
   * `member & cleared`: then it does not determine what its subjects get.
   */
  isMixed(from: TypeRelation): boolean {
    return this.usersets(from, this.#strongMixed).length > 0;
  }

  /**
   * Whether a set that was granted a relation may give it up, without a right to the object: strong relations are
   * held by it, and nobody can get more by its deletion. The relations of zones protect the accounts that hold them,
   * and are not such relations.
   */
  isReleasable(from: TypeRelation): boolean {
    const { type, relation } = from;
    return (
      type !== "zone" &&
      !this.places(type).has(relation) &&
      this.usersets(from, this.#strong).length > 0 &&
      this.usersets(from, this.#mixed).length === 0
    );
  }

  /** The relations that lead to others' rights: each `owner` and `admin`, and two of zones. */
  get strong(): readonly TypeRelation[] {
    return this.#strong;
  }

  /**
   * All relations of zones. They protect the accounts that hold them from those who manage users
   * (docs/iam.md#sessions).
   */
  get ofZones(): readonly TypeRelation[] {
    return (this.relations("zone") ?? []).map((relation) => ({ type: "zone", relation }));
  }

  /** Whether the subjects of a relation may hold another one by it, as the model has them. */
  contributes(from: TypeRelation, to: TypeRelation): boolean {
    return this.#reachedFrom(to).has(key(from));
  }

  /** What the members of a relation or permission may come from, itself included. */
  #reachedFrom({ type, relation }: TypeRelation): ReadonlySet<string> {
    const first = key({ type, relation });
    const known = this.#reached.get(first);
    if (known !== undefined) return known;
    const reached = new Map([[first, { type, name: relation }]]);
    for (const { type, name } of reached.values()) {
      for (const { target } of memberSteps(this.#model, type, name)) {
        reached.set(key({ type: target.type, relation: target.name }), target);
      }
    }
    const keys = new Set(reached.keys());
    this.#reached.set(first, keys);
    return keys;
  }

  /** The steps that lead from a permission to other objects, references to the own type resolved. */
  #ownSteps(type: string, permission: string): readonly MemberStep[] {
    const names = new Set([permission]);
    const away: MemberStep[] = [];
    for (const name of names) {
      // The usersets of a relation are grants, and say nothing about the place.
      if (this.hasRelation({ type, relation: name })) continue;
      for (const step of memberSteps(this.#model, type, name)) {
        if (step.through === undefined) names.add(step.target.name);
        else away.push(step);
      }
    }
    return away;
  }

  #known(type: string, name: string): string | undefined {
    const definition = this.#model.definitions.get(type);
    return definition?.permissions.has(name) || definition?.relations.has(name) ? name : undefined;
  }
}

/** The most names of a model that a message has. */
const MOST_NAMES = 30;

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  const shown = names.slice(0, MOST_NAMES).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown || "none";
}

function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}

function strongRelations({ definitions }: Model): TypeRelation[] {
  const strong: TypeRelation[] = [];
  for (const [type, { relations }] of definitions) {
    const names = type === "zone" ? STRONG_ZONE_RELATIONS : [];
    for (const relation of ["owner", "admin", ...names]) {
      if (relations.has(relation)) strong.push({ type, relation });
    }
  }
  return strong;
}

function key({ type, relation }: TypeRelation): string {
  return `${type}#${relation}`;
}
