/** A small world in which users change what they may, as the RPCs do it. */
import type {
  ObjectReference,
  Relationship,
  RelationshipUpdate,
  SubjectReference,
} from "svc-access/authz";
import type { TestEngine } from "svc-access/testing";
import { GroupCreation } from "../../src/groups/group-creation.ts";
import { GroupMembers } from "../../src/groups/group-members.ts";
import { GroupMoves } from "../../src/groups/group-moves.ts";
import type { GroupRecords } from "../../src/groups/group-records.ts";
import { GroupTree } from "../../src/groups/group-tree.ts";
import { MoveRights } from "../../src/groups/move-rights.ts";
import { PlaceRights } from "../../src/groups/place-rights.ts";
import { LastOwner } from "../../src/rights/last-owner.ts";
import type { OwnerClaims } from "../../src/rights/owner-claims.ts";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import type { Random } from "../support/random.ts";
import { iamEngine } from "./rights-engine.ts";

export const USERS = ["root", "admin", "padmin", "umanager", "gmanager", "nobody"] as const;

const STORED = [
  "zone:acme#owner@user:root",
  "zone:acme#owner@group:board#member",
  "group:board#zone@zone:acme",
  "group:board#member@user:root",
  "zone:acme#admin@user:admin",
  "zone:acme#permission_admin@user:padmin",
  "zone:acme#user_manager@user:umanager",
  "zone:acme#group_manager@user:gmanager",
  ...["g1", "g2"].flatMap((id) => [
    `group:${id}#zone@zone:acme`,
    `group:${id}#owner@user:gmanager`,
    `group:${id}#manager@user:nobody`,
  ]),
  "group:g2#parent@group:g1",
  ...["o1", "o2"].flatMap((id) => [
    `organization:${id}#zone@zone:acme`,
    `organization:${id}#owner@user:admin`,
    `organization:${id}#admin@user:umanager`,
  ]),
  "organization:o2#owner@user:nobody",
  "organization:o2#admin@group:g2#member",
  "project:p1#parent@organization:o1",
  "project:p1#owner@user:padmin",
  "project:p2#owner@user:umanager",
  "project:p2#admin@user:nobody",
];

const RELATIONS: Readonly<Record<string, readonly string[]>> = {
  zone: ["owner", "admin", "user_manager", "group_manager", "permission_admin"],
  group: ["member", "member", "owner", "manager", "permission_admin", "parent", "zone"],
  organization: ["owner", "admin", "zone"],
  project: ["owner", "admin", "developer", "parent"],
};

/** What a step was, for the message of a failure. */
export interface Step {
  readonly caller: string;
  readonly text: string;
}

const signal = new AbortController().signal;
// The claims are tested by themselves, and here nothing is at once.
const NO_CLAIMS = {
  during: (_objects: unknown, _signal: unknown, work: (claims: unknown) => unknown) =>
    work({ add: async () => true }),
} as unknown as OwnerClaims;

/** Takes random steps. A step that is refused changes nothing. */
export class World {
  readonly engine: TestEngine;
  readonly disabled = new Set<string>();
  readonly #random: Random;
  readonly #rules: RelationshipRules;
  readonly #lastOwner: LastOwner;
  readonly #creation: GroupCreation;
  readonly #moves: GroupMoves;
  readonly #members: GroupMembers;
  #relationships: readonly Relationship[] = [];
  #made = 0;

  static async begin(random: Random): Promise<World> {
    const world = new World(await iamEngine(...STORED), random);
    await world.read();
    return world;
  }

  private constructor(engine: TestEngine, random: Random) {
    this.engine = engine;
    this.#random = random;
    const rules = new RelationshipRules(engine);
    const enabled = async (ids: readonly string[]) =>
      new Set(ids.filter((id) => !this.disabled.has(id)));
    const lastOwner = new LastOwner({ engine, claims: NO_CLAIMS, enabled });
    const records = {
      begin: async () => `g${3 + this.#made++}`,
      advance: async () => true,
      find: async (id: string) => ({ id, organizationId: "acme" }),
      discard: async () => undefined,
    } as unknown as GroupRecords;
    const tree = new GroupTree(engine);
    const places = new PlaceRights(engine, records);
    this.#rules = rules;
    this.#lastOwner = lastOwner;
    this.#creation = new GroupCreation({ engine, records, tree, rights: places });
    this.#moves = new GroupMoves({
      engine,
      tree,
      places,
      rights: new MoveRights(engine, rules),
      lastOwner,
    });
    this.#members = new GroupMembers({ engine, rules, lastOwner });
  }

  /** All relationships. */
  async read(): Promise<readonly Relationship[]> {
    this.#relationships = (await this.engine.readRelationships({})).items;
    return this.#relationships;
  }

  /** Takes a random step; undefined if it was refused. */
  async step(): Promise<Step | undefined> {
    const caller = this.#random.pick(USERS);
    const by = { subjectType: "user", subjectId: caller };
    const { text, run } = this.#choose(by);
    try {
      await run();
      return { caller, text };
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "FORBIDDEN" && code !== "FAILED_PRECONDITION" && code !== "INVALID_ARGUMENT") {
        throw error;
      }
      return undefined;
    }
  }

  #choose(by: { subjectType: string; subjectId: string }) {
    const random = this.#random;
    const kind = random.below(100);
    if (kind < 45) return this.#write(by);
    if (kind < 60) return this.#changeOwner(by);
    if (kind < 72) {
      const group = this.#group();
      const member = this.#subject();
      const isAdd = random.chance(70);
      const of = { id: group, organizationId: "acme" };
      return {
        text: `${isAdd ? "add" : "remove"} ${JSON.stringify(member)} of ${group}`,
        run: () =>
          isAdd
            ? this.#members.add(by, of, member, signal)
            : this.#members.remove(by, of, member, signal),
      };
    }
    if (kind < 79) {
      const parentId = random.chance(50) ? "" : this.#group();
      const group = { organizationId: "acme", parentId, displayName: "x" };
      return {
        text: `create below ${parentId}`,
        run: () => this.#creation.create(by, group, signal),
      };
    }
    if (kind < 88) {
      const [id, parentId] = [this.#group(), random.chance(20) ? "" : this.#group()];
      return { text: `move ${id} below ${parentId}`, run: () => this.#move(by, id, parentId) };
    }
    const id = random.pick(USERS);
    if (this.disabled.has(id)) {
      return { text: `enable ${id}`, run: async () => void this.disabled.delete(id) };
    }
    const leaving = [{ type: "user", id }];
    return {
      text: `disable ${id}`,
      run: () => this.#lastOwner.guard({ leaving }, signal, async () => void this.disabled.add(id)),
    };
  }

  #write(by: { subjectType: string; subjectId: string }) {
    const updates = Array.from({ length: 1 + this.#random.below(3) }, () => ({
      operation: this.#random.chance(75) ? ("TOUCH" as const) : ("DELETE" as const),
      relationship: this.#random.chance(30)
        ? this.#random.pick(this.#relationships)
        : this.#relationship(),
    }));
    return this.#writing(by, updates);
  }

  #writing(by: { subjectType: string; subjectId: string }, updates: readonly RelationshipUpdate[]) {
    const run = async () => {
      const decide = async () =>
        (await this.#rules.assertMayWrite(by, updates, signal)).preconditions;
      await this.#lastOwner.write(updates, decide, signal);
    };
    return { text: JSON.stringify(updates), run };
  }

  /** Owners come and go, directly and through a group. */
  #changeOwner(by: { subjectType: string; subjectId: string }) {
    const random = this.#random;
    const owners = this.#relationships.filter(
      ({ resource: { type, id }, relation, subject }) =>
        subject.type === "user" &&
        ((type === "zone" && relation === "owner") || (id === "board" && relation === "member")),
    );
    if (owners.length === 0) return this.#write(by);
    const relationship = random.pick(owners);
    if (random.chance(70)) return this.#writing(by, [{ operation: "DELETE", relationship }]);
    const subject = { type: "user", id: random.pick(USERS) };
    return this.#writing(by, [{ operation: "TOUCH", relationship: { ...relationship, subject } }]);
  }

  /** The annotation of MoveGroup asks for `manage`. */
  async #move(by: { subjectType: string; subjectId: string }, id: string, parentId: string) {
    const subject = { type: by.subjectType, id: by.subjectId };
    const check = { resource: { type: "group", id }, permission: "manage", subject };
    if (!(await this.engine.check(check)).allowed) {
      throw Object.assign(new Error("manage is required"), { code: "FORBIDDEN" });
    }
    await this.#moves.move(by, { id, organizationId: "acme" }, parentId, signal);
  }

  #relationship(): Relationship {
    const resource = this.#random.pick(this.#objects());
    const relation = this.#random.pick(RELATIONS[resource.type] ?? []);
    if (relation === "zone") return { resource, relation, subject: { type: "zone", id: "acme" } };
    if (relation === "parent") {
      const isGroup = resource.type === "group";
      const id = isGroup ? this.#group() : this.#random.pick(["o1", "o2"]);
      return { resource, relation, subject: { type: isGroup ? "group" : "organization", id } };
    }
    return { resource, relation, subject: this.#subject() };
  }

  #objects(): readonly ObjectReference[] {
    const found = new Map(
      this.#relationships.map(({ resource }) => [`${resource.type}:${resource.id}`, resource]),
    );
    return [...found.values()];
  }

  #group(): string {
    return this.#random.pick(this.#objects().filter(({ type }) => type === "group")).id;
  }

  #subject(): SubjectReference {
    return this.#random.chance(60)
      ? { type: "user", id: this.#random.pick(USERS) }
      : { type: "group", id: this.#group(), relation: "member" };
  }
}
