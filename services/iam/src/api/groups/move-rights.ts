import {
  type AuthorizationEngine,
  type CheckRequest,
  MAX_BULK_CHECKS,
  type Precondition,
  type RelationshipUpdate,
  type SubjectReference,
} from "svc-access/authz";
import { type Principal, ServiceError } from "svc-access/runtime";
import type { RelationshipRules } from "../../rights/relationship-rules.ts";

/** A group that moves. */
export interface MovedGroup {
  readonly id: string;
  readonly organizationId: string;
  /** The groups above it, as long as it has not moved. */
  readonly above: readonly string[];
  /** Those above it after the move. */
  readonly newAbove: readonly string[];
}

/**
 * The relations that hand down power over the groups below, each with the permissions that it hands
 * down. Relations that only let people see a group are not among them.
 */
const HANDED_DOWN = {
  manager: ["manage", "create_child_groups", "manage_members"],
  permission_admin: ["view_permissions", "manage_permissions"],
} as const;

type HandedDown = keyof typeof HANDED_DOWN | "owner";

/** Who gets power over the group by the move. */
interface Heir {
  readonly relation: HandedDown;
  readonly subject: SubjectReference;
}

/** The most relations of the new groups above that are compared. */
const MOST = 1000;

/**
 * Decides what a move may hand down. The owners, managers and permission administrators of the groups
 * above a group have power over it, so a move below new groups grants it to theirs: whoever moves a
 * group must be allowed to grant them the same relation to it, unless they have that power already.
 */
export class MoveRights {
  readonly #engine: AuthorizationEngine;
  readonly #rules: Pick<RelationshipRules, "assertMayWrite">;

  constructor(engine: AuthorizationEngine, rules: Pick<RelationshipRules, "assertMayWrite">) {
    this.#engine = engine;
    this.#rules = rules;
  }

  /**
   * Checks that a caller may hand down what the move hands down.
   *
   * @returns what must hold when the move is written
   * @throws ServiceError FORBIDDEN; it does not say to whom
   */
  async assertMayHandDown(
    caller: Pick<Principal, "subjectType" | "subjectId">,
    group: MovedGroup,
    signal: AbortSignal,
  ): Promise<readonly Precondition[]> {
    const isNew = (id: string) => !group.above.includes(id);
    const heirs = await this.#heirs(group.newAbove.filter(isNew), signal);
    const granted = await this.#withoutPower(heirs, group, signal);
    if (granted.length === 0) return [];
    const updates = granted.map(
      ({ relation, subject }): RelationshipUpdate => ({
        operation: "TOUCH",
        relationship: { resource: { type: "group", id: group.id }, relation, subject },
      }),
    );
    return (await this.#rules.assertMayWrite(caller, updates, signal)).preconditions;
  }

  async #heirs(above: readonly string[], signal: AbortSignal): Promise<readonly Heir[]> {
    const heirs = new Map<string, Heir>();
    for (const id of above) {
      for (const relation of ["owner", "manager", "permission_admin"] as const) {
        const filter = { resourceType: "group", resourceId: id, relation };
        const { items, nextCursor } = await this.#engine.readRelationships(filter, undefined, {
          signal,
          newest: true,
        });
        for (const { subject } of items) {
          const { type, id, relation: of = "" } = subject;
          heirs.set(JSON.stringify([relation, type, id, of]), { relation, subject });
        }
        if (heirs.size <= MOST && nextCursor === undefined) continue;
        throw new ServiceError(
          "FORBIDDEN",
          `the groups above at the new place have more than ${MOST} owners, managers and permission administrators`,
        );
      }
    }
    return [...heirs.values()];
  }

  /** Those who do not have the power yet that their relation hands down. */
  async #withoutPower(
    heirs: readonly Heir[],
    group: MovedGroup,
    signal: AbortSignal,
  ): Promise<readonly Heir[]> {
    const questions = heirs.map((heir) => questionsAbout(heir, group));
    const answers = await this.#ask(questions.flat(), signal);
    let next = 0;
    return heirs.filter(({ relation }, index) => {
      const end = next + (questions[index]?.length ?? 0);
      const held = answers.slice(next, end);
      next = end;
      // One owner is enough, of the group, its zone or a group that stays above; else all of the permissions.
      return relation === "owner" ? !held.includes(true) : held.includes(false);
    });
  }

  async #ask(requests: readonly CheckRequest[], signal: AbortSignal): Promise<boolean[]> {
    const answers: boolean[] = [];
    for (let start = 0; start < requests.length; start += MAX_BULK_CHECKS) {
      const part = requests.slice(start, start + MAX_BULK_CHECKS);
      const { items } = await this.#engine.checkBulk(part, { signal, newest: true });
      for (const item of items) {
        if (item.error !== undefined) throw item.error;
        answers.push(item.allowed);
      }
    }
    return answers;
  }
}

function questionsAbout({ relation, subject }: Heir, group: MovedGroup): readonly CheckRequest[] {
  const { id, organizationId, above, newAbove } = group;
  if (relation !== "owner") {
    const resource = { type: "group", id };
    return HANDED_DOWN[relation].map((permission) => ({ resource, permission, subject }));
  }
  const stay = above.filter((one) => newAbove.includes(one));
  return [
    { type: "zone", id: organizationId },
    ...[id, ...stay].map((one) => ({ type: "group", id: one })),
  ].map((resource) => ({ resource, permission: "owner", subject }));
}
