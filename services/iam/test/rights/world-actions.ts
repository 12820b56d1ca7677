/** Random actions of accounts; most of them are refused. */
import type {
  ObjectReference,
  Relationship,
  RelationshipUpdate,
  SubjectReference,
} from "svc-access/authz";
import type { Random } from "../support/random.ts";
import { ACCOUNTS, ORGANIZATION, ZONES } from "./initial-state.ts";
import type { Account } from "./plain-rights.ts";
import type { World } from "./world.ts";
import type { AccountKind, Action } from "./world-action.ts";

/** How often each of them is tried, in relation to the others. */
const ACCOUNT_ACTIONS = {
  user: [
    "link",
    "link",
    "reset",
    "reset",
    "reset",
    "disable",
    "disable",
    "enable",
    "email",
    "sessions",
    "factors",
    "delete",
  ],
  service_account: ["key", "disable", "enable", "audience", "delete_key", "delete_key", "delete"],
} as const satisfies Readonly<Record<string, readonly AccountKind[]>>;

const RELATIONS: Readonly<Record<string, readonly string[]>> = {
  zone: ["owner", "admin", "user_viewer", "user_manager", "group_manager", "permission_admin"],
  group: ["member", "member", "owner", "manager", "permission_admin", "parent", "zone"],
  organization: ["owner", "admin", "zone"],
  project: ["owner", "admin", "developer", "parent"],
};

/** Draws actions, about what there is. */
export class WorldActions {
  readonly #random: Random;
  readonly #world: World;
  #relationships: readonly Relationship[] = [];

  constructor(random: Random, world: World) {
    this.#random = random;
    this.#world = world;
  }

  /** Says what there is now. */
  see(relationships: readonly Relationship[]): void {
    this.#relationships = relationships;
  }

  /** The next one. */
  draw(): Action {
    const random = this.#random;
    const caller = random.pick(ACCOUNTS);
    const kind = random.below(100);
    if (kind < 30) return { caller, kind: "write", updates: this.#updates(caller) };
    if (kind < 35) return { caller, kind: "write", updates: this.#ownerChange(caller) };
    if (kind < 38) return { caller, kind: "write", updates: this.#revocation() };
    if (kind < 42) return this.#placement();
    if (kind < 55) return this.#membership(caller);
    if (kind < 60) {
      const organizationId = random.chance(85) ? ORGANIZATION : random.pick(ZONES);
      return { caller, kind: "create", organizationId, parentId: this.#place() };
    }
    if (kind < 68) return { caller, kind: "move", group: this.#group(), parentId: this.#place() };
    if (kind < 72) return this.#groupDeletion(caller);
    if (kind < 73) return { caller: { type: "job", id: "removals" }, kind: "removals" };
    return this.#aboutAccount(caller);
  }

  #aboutAccount(caller: Account): Action {
    const random = this.#random;
    const account = random.pick(ACCOUNTS);
    const kinds = ACCOUNT_ACTIONS[account.type as keyof typeof ACCOUNT_ACTIONS];
    const kind = random.pick<AccountKind>(kinds);
    if (kind === "delete" && random.chance(75)) return this.#aboutAccount(caller);
    const link = this.#world.link(random);
    if (kind === "reset" && link !== undefined) {
      // Whoever has made a link uses it.
      return { caller: link.maker, kind, account: link.account, of: link.token };
    }
    if (kind === "disable" && link !== undefined && random.chance(40)) {
      return { caller, kind, account: link.maker, of: "" };
    }
    const key = kind === "delete_key" ? this.#world.key(random) : undefined;
    return key === undefined
      ? { caller, kind, account, of: "" }
      : { caller, kind, account: key.account, of: key.id };
  }

  #membership(caller: Account): Action {
    const random = this.#random;
    const stored = this.#relationships.filter(
      ({ resource, relation }) => resource.type === "group" && relation === "member",
    );
    if (stored.length > 0 && random.chance(35)) {
      const { resource, subject } = random.pick(stored);
      return { caller, kind: "remove", group: resource.id, member: subject };
    }
    const member = random.chance(30) ? caller : this.#subject();
    return { caller, kind: "add", group: this.#group(), member };
  }

  #updates(caller: Account): readonly RelationshipUpdate[] {
    const random = this.#random;
    return Array.from({ length: 1 + random.below(random.chance(30) ? 3 : 1) }, () => ({
      operation: random.chance(70) ? ("TOUCH" as const) : ("DELETE" as const),
      relationship: random.chance(30)
        ? random.pick(this.#relationships)
        : this.#relationship(caller),
    }));
  }

  /** Whoever has made a link for a new password loses something. */
  #revocation(): readonly RelationshipUpdate[] {
    const maker = this.#world.link(this.#random)?.maker;
    const held = this.#relationships.filter(
      ({ resource, subject }) =>
        subject.id === maker?.id && (resource.type === "zone" || resource.type === "group"),
    );
    const relationship = this.#random.pick(held.length === 0 ? this.#relationships : held);
    return [{ operation: "DELETE", relationship }];
  }

  /** Of a group, often one that is a member of others, and by somebody who has power over it. */
  #groupDeletion(caller: Account): Action {
    const random = this.#random;
    const nested = this.#relationships.filter(
      ({ resource, relation, subject }) =>
        resource.type === "group" && relation === "member" && subject.type === "group",
    );
    const isNested = nested.length > 0 && random.chance(60);
    const group = isNested ? random.pick(nested).subject.id : this.#group();
    const owners = this.#relationships.filter(
      ({ resource: { type, id }, relation, subject }) =>
        type === "group" &&
        id === group &&
        subject.relation === undefined &&
        (relation === "owner" || relation === "manager"),
    );
    const isOwner = owners.length > 0 && random.chance(50);
    return { caller: isOwner ? random.pick(owners).subject : caller, kind: "delete_group", group };
  }

  /** Owners come and go, directly and through a group. */
  #ownerChange(caller: Account): readonly RelationshipUpdate[] {
    const random = this.#random;
    const owners = this.#relationships.filter(
      ({ resource: { type }, relation }) => type === "zone" && relation === "owner",
    );
    const relationship = random.pick(owners.length === 0 ? this.#relationships : owners);
    const { id, relation } = relationship.subject;
    const members = this.#relationships.filter(
      ({ resource, relation: of }) =>
        relation !== undefined && resource.id === id && of === "member",
    );
    const changed = random.pick([relationship, ...members]);
    if (random.chance(70)) return [{ operation: "DELETE", relationship: changed }];
    const subject = random.chance(40) ? caller : random.pick(ACCOUNTS);
    return [{ operation: "TOUCH", relationship: { ...changed, subject } }];
  }

  /** Somebody who holds an object puts it at another place. */
  #placement(): Action {
    const random = this.#random;
    const held = this.#relationships.filter(
      ({ resource: { type }, subject }) =>
        (type === "organization" || type === "project") && subject.type === "user",
    );
    if (held.length === 0) return this.draw();
    const { resource, subject } = random.pick(held);
    const relation = resource.type === "project" ? "parent" : "zone";
    const place =
      relation === "parent"
        ? { type: "organization", id: random.pick(["o1", "o2"]) }
        : { type: "zone", id: random.pick(ZONES) };
    const relationship = { resource, relation, subject: place };
    return { caller: subject, kind: "write", updates: [{ operation: "TOUCH", relationship }] };
  }

  #relationship(caller: Account): Relationship {
    const random = this.#random;
    const resource = random.chance(6) ? this.#unknown() : random.pick(this.#objects());
    const relation = random.pick(RELATIONS[resource.type] ?? []);
    if (relation === "zone") {
      return { resource, relation, subject: { type: "zone", id: random.pick(ZONES) } };
    }
    if (relation === "parent") {
      const isGroup = resource.type === "group";
      const id = isGroup ? this.#group() : random.pick(["o1", "o2"]);
      return { resource, relation, subject: { type: isGroup ? "group" : "organization", id } };
    }
    const isBusiness = resource.type === "organization" || resource.type === "project";
    const isOwn = random.chance(30) && !(isBusiness && caller.type !== "user");
    return { resource, relation, subject: isOwn ? caller : this.#subject() };
  }

  /** An object that no relationship names. */
  #unknown(): ObjectReference {
    return { type: this.#random.pick(["group", "organization", "project", "zone"]), id: "unknown" };
  }

  #objects(): readonly ObjectReference[] {
    const found = new Map(
      this.#relationships.map(({ resource }) => [`${resource.type}:${resource.id}`, resource]),
    );
    return [...found.values()];
  }

  #place(): string {
    return this.#random.chance(35) ? "" : this.#group();
  }

  #group(): string {
    const groups = this.#objects().filter(({ type }) => type === "group");
    return groups.length === 0 ? "g1" : this.#random.pick(groups).id;
  }

  #subject(): SubjectReference {
    return this.#random.chance(60)
      ? this.#random.pick(ACCOUNTS)
      : { type: "group", id: this.#group(), relation: "member" };
  }
}
