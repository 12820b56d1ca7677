/** The meaning of rights, read from a plain list of relationships: an oracle that shares no code with the rules. */
import type { ObjectReference, Relationship, SubjectReference } from "svc-access/authz";

/** Relations that lead to others' rights: ranks of any object, and two relations of zones. */
export type Strong = "owner" | "admin" | "permission_admin" | "user_manager";

/** A user or a service account. */
export type Account = Pick<SubjectReference, "type" | "id">;

/** What somebody holds. */
export interface Held {
  readonly object: ObjectReference;
  readonly relation: string;
  readonly account: Account;
}

const ZONE_RELATIONS = [
  "owner",
  "admin",
  "user_viewer",
  "user_manager",
  "group_viewer",
  "group_manager",
  "permission_admin",
] as const;

/** Permissions as unions: of relations, and of a permission of what another relation names. */
const PERMISSIONS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  zone: {
    manage_users: ["owner", "admin", "user_manager"],
    create_groups: ["owner", "admin", "group_manager"],
    manage_groups: ["owner", "admin", "group_manager"],
    manage_permissions: ["owner", "admin", "permission_admin"],
  },
  group: {
    manage: ["owner", "manager", "zone->manage_groups", "parent->manage"],
    create_child_groups: ["owner", "manager", "zone->create_groups", "parent->create_child_groups"],
    manage_members: ["owner", "manager", "zone->manage_users", "parent->manage_members"],
    manage_permissions: [
      "owner",
      "permission_admin",
      "zone->manage_permissions",
      "parent->manage_permissions",
    ],
  },
  organization: { manage: ["owner", "admin"] },
  project: { manage: ["owner", "admin", "parent->manage"] },
};

export const textOf = ({ type, id }: ObjectReference) => `${type}:${id}`;

/** The state of a small world with the model of IAM. */
export class PlainRights {
  readonly #subjects = new Map<string, SubjectReference[]>();
  readonly #known = new Map<string, boolean>();
  readonly objects: readonly ObjectReference[];

  constructor(relationships: readonly Relationship[]) {
    const objects = new Map<string, ObjectReference>();
    for (const { resource, relation, subject } of relationships) {
      objects.set(textOf(resource), resource);
      const key = `${textOf(resource)}#${relation}`;
      this.#subjects.set(key, [...(this.#subjects.get(key) ?? []), subject]);
    }
    this.objects = [...objects.values()];
  }

  /** Whether any relationship is about an object. */
  has(object: ObjectReference): boolean {
    return this.objects.some((other) => textOf(other) === textOf(object));
  }

  /** The subjects of a relation of an object. */
  of(object: ObjectReference, relation: string): readonly SubjectReference[] {
    return this.#subjects.get(`${textOf(object)}#${relation}`) ?? [];
  }

  /** Whether an account holds a relation, directly or through groups. */
  holds(object: ObjectReference, relation: string, account: Account): boolean {
    const key = `${textOf(object)}#${relation}@${textOf(account)}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, false);
    const found = this.of(object, relation).some(({ type, id, relation: set }) =>
      set === undefined
        ? type === account.type && id === account.id
        : this.holds({ type, id }, set, account),
    );
    this.#known.set(key, found);
    return found;
  }

  /** Whether an account holds a permission on an object. */
  may(object: ObjectReference, permission: string, account: Account): boolean {
    return (PERMISSIONS[object.type]?.[permission] ?? []).some((part) => {
      const [relation = "", above] = part.split("->");
      return above === undefined
        ? this.holds(object, relation, account)
        : this.of(object, relation).some(({ type, id }) => this.may({ type, id }, above, account));
    });
  }

  /** Whether an account may write relationships of an object. */
  manages(object: ObjectReference, account: Account): boolean {
    const isAdministered = object.type === "zone" || object.type === "group";
    return this.may(object, isAdministered ? "manage_permissions" : "manage", account);
  }

  /** Whether an account has a rank on an object or above it; an owner counts as an admin. */
  ranks(object: ObjectReference, rank: "owner" | "admin", account: Account): boolean {
    const relations = rank === "owner" ? ["owner"] : ["owner", "admin"];
    return this.#above(object).some((one) =>
      relations.some((relation) => this.holds(one, relation, account)),
    );
  }

  /** Whether an account may grant and revoke a strong relation of an object. */
  mayGrant(object: ObjectReference, relation: string, account: Account): boolean {
    if (!this.manages(object, account)) return false;
    return relation !== "owner" && relation !== "admin"
      ? true
      : this.ranks(object, relation, account);
  }

  /** The strong relations that accounts hold by a relation of an object itself. */
  *strong(accounts: readonly Account[]): Generator<Held> {
    for (const object of this.objects) {
      const others = object.type === "zone" ? (["permission_admin", "user_manager"] as const) : [];
      for (const relation of ["owner", "admin", ...others] as const) {
        for (const account of accounts) {
          if (this.holds(object, relation, account)) yield { object, relation, account };
        }
      }
    }
  }

  /** The relations of zones that accounts hold. */
  *ofZones(accounts: readonly Account[]): Generator<Held> {
    for (const object of this.objects.filter(({ type }) => type === "zone")) {
      for (const relation of ZONE_RELATIONS) {
        for (const account of accounts) {
          if (this.holds(object, relation, account)) yield { object, relation, account };
        }
      }
    }
  }

  /** The ranks that accounts have on objects or above them. */
  *ranked(accounts: readonly Account[]): Generator<Held> {
    for (const object of this.objects) {
      for (const relation of ["owner", "admin"] as const) {
        for (const account of accounts) {
          if (this.ranks(object, relation, account)) yield { object, relation, account };
        }
      }
    }
  }

  /** The permissions on groups that accounts hold. */
  *overGroups(accounts: readonly Account[]): Generator<Held> {
    for (const object of this.objects.filter(({ type }) => type === "group")) {
      for (const relation of Object.keys(PERMISSIONS["group"] ?? {})) {
        for (const account of accounts) {
          if (this.may(object, relation, account)) yield { object, relation, account };
        }
      }
    }
  }

  /** Whether a caller holds every zone relation of an account, or owns these zones or that of the organization. */
  covers(caller: Account, account: Account, organization: string): boolean {
    if (textOf(caller) === textOf(account)) return true;
    if (this.holds({ type: "zone", id: organization }, "owner", caller)) return true;
    return this.objects
      .filter(({ type }) => type === "zone")
      .every((zone) =>
        ZONE_RELATIONS.every(
          (relation) =>
            !this.holds(zone, relation, account) ||
            this.holds(zone, relation, caller) ||
            this.holds(zone, "owner", caller),
        ),
      );
  }

  /** An object and all above it. */
  #above(object: ObjectReference): readonly ObjectReference[] {
    const found = new Map([[textOf(object), object]]);
    for (const from of found.values()) {
      for (const { type, id } of [...this.of(from, "zone"), ...this.of(from, "parent")]) {
        found.set(`${type}:${id}`, { type, id });
      }
    }
    return [...found.values()];
  }
}
