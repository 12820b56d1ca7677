import { formatExpression } from "../print-model.ts";
import {
  type Definition,
  formatSubject,
  type Model,
  memberKey,
  type Position,
} from "../schema/model.ts";
import { whyNotAllowed } from "./check-relationship.ts";
import { compareInclusions, type Inclusions } from "./inclusion.ts";
import type { PlacedRelationship } from "./validation-file.ts";

/** The effect of a change on access; `unclear` if it cannot be determined. */
export type Effect = "widens" | "narrows" | "none" | "unclear";

/** One difference between two models. */
export interface ModelChange {
  readonly kind: "definition" | "relation" | "subject" | "permission";
  /** `affected`: its text is the same, but a definition that it refers to changed. */
  readonly change: "added" | "removed" | "changed" | "affected";
  /** `doc`, `doc#view`, or for a subject the relation and the subject: `doc#viewer: user:*`. */
  readonly name: string;
  readonly effect: Effect;
  /** The expression of a permission before and after. */
  readonly before?: string;
  readonly after?: string;
  /** Its position in the new model; for removals, in the old one. */
  readonly position: Position;
}

/** The changes from one model to another: first in the order of the old model, then additions. */
export function diffModels(before: Model, after: Model): ModelChange[] {
  const inclusions = compareInclusions(before, after);
  const changes: ModelChange[] = [];
  for (const name of new Set([...before.definitions.keys(), ...after.definitions.keys()])) {
    const left = before.definitions.get(name);
    const right = after.definitions.get(name);
    if (left === undefined && right !== undefined) {
      const { position } = right;
      changes.push({ kind: "definition", change: "added", name, effect: "widens", position });
    } else if (left !== undefined && right === undefined) {
      const { position } = left;
      changes.push({ kind: "definition", change: "removed", name, effect: "narrows", position });
    } else if (left !== undefined && right !== undefined) {
      changes.push(...diffRelations(left, right), ...diffPermissions(left, right, inclusions));
    }
  }
  return changes;
}

function diffRelations(left: Definition, right: Definition): ModelChange[] {
  const changes: ModelChange[] = [];
  for (const relation of new Set([...left.relations.keys(), ...right.relations.keys()])) {
    const name = memberKey(left.name, relation);
    const old = left.relations.get(relation);
    const now = right.relations.get(relation);
    if (old === undefined && now !== undefined) {
      const { position } = now;
      changes.push({ kind: "relation", change: "added", name, effect: "widens", position });
    } else if (old !== undefined && now === undefined) {
      const { position } = old;
      changes.push({ kind: "relation", change: "removed", name, effect: "narrows", position });
    } else if (old !== undefined && now !== undefined) {
      const oldSubjects = new Map(old.subjects.map((subject) => [formatSubject(subject), subject]));
      const newSubjects = new Map(now.subjects.map((subject) => [formatSubject(subject), subject]));
      for (const [text, { position }] of oldSubjects) {
        if (newSubjects.has(text)) continue;
        const subject = `${name}: ${text}`;
        changes.push({
          kind: "subject",
          change: "removed",
          name: subject,
          effect: "narrows",
          position,
        });
      }
      for (const [text, { position }] of newSubjects) {
        if (oldSubjects.has(text)) continue;
        const subject = `${name}: ${text}`;
        changes.push({
          kind: "subject",
          change: "added",
          name: subject,
          effect: "widens",
          position,
        });
      }
    }
  }
  return changes;
}

function diffPermissions(
  left: Definition,
  right: Definition,
  inclusions: Inclusions,
): ModelChange[] {
  const changes: ModelChange[] = [];
  for (const permission of new Set([...left.permissions.keys(), ...right.permissions.keys()])) {
    const name = memberKey(left.name, permission);
    const old = left.permissions.get(permission);
    const now = right.permissions.get(permission);
    const before = old && formatExpression(old.expression);
    const after = now && formatExpression(now.expression);
    if (old === undefined && now !== undefined && after !== undefined) {
      const { position } = now;
      changes.push({
        kind: "permission",
        change: "added",
        name,
        effect: "widens",
        after,
        position,
      });
    } else if (old !== undefined && now === undefined && before !== undefined) {
      const { position } = old;
      changes.push({
        kind: "permission",
        change: "removed",
        name,
        effect: "narrows",
        before,
        position,
      });
    } else if (now !== undefined && before !== undefined && after !== undefined) {
      const effect = effectOf(name, inclusions);
      const change = before === after ? "affected" : "changed";
      if (change === "affected" && effect === "none") continue;
      changes.push({
        kind: "permission",
        change,
        name,
        effect,
        before,
        after,
        position: now.position,
      });
    }
  }
  return changes;
}

function effectOf(key: string, { forward, backward }: Inclusions): Effect {
  if (forward.has(key)) return backward.has(key) ? "none" : "widens";
  return backward.has(key) ? "narrows" : "unclear";
}

/** A stored relationship that a new model does not allow. */
export interface Blocker {
  readonly relationship: PlacedRelationship;
  readonly reason: string;
}

/** The stored relationships that a new model does not allow: they must be deleted before it can be used. */
export function blockingRelationships(
  model: Model,
  stored: readonly PlacedRelationship[],
): Blocker[] {
  return stored.flatMap((relationship) => {
    const reason = whyNotAllowed(model, relationship);
    return reason === undefined ? [] : [{ relationship, reason }];
  });
}

/** Whether stored relationships may block a change: it removes something that they may use. */
export function mayBlock(
  { kind, change, name }: ModelChange,
  before: Model,
  after: Model,
): boolean {
  if (change !== "removed") return false;
  if (kind === "relation" || kind === "subject") return true;
  // Usersets may name a permission, but then the removed subject is a change of its own.
  if (kind === "permission") return false;
  const definition = before.definitions.get(name);
  return definition !== undefined && !after.definitions.has(name) && definition.relations.size > 0;
}
