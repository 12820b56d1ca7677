/** What is wrong with a change that was permitted, by the oracle and by the design alone. */
import type { Relationship } from "svc-access/authz";
import { ACCOUNTS, ORGANIZATION } from "./initial-state.ts";
import { type Account, type Held, PlainRights, textOf } from "./plain-rights.ts";
import type { Action } from "./world-action.ts";

/** The relationships at one moment. */
export interface Moment {
  readonly relationships: readonly Relationship[];
  readonly rights: PlainRights;
}

/** Reads a moment. */
export function moment(relationships: readonly Relationship[]): Moment {
  return { relationships, rights: new PlainRights(relationships) };
}

const PLACES: ReadonlySet<string> = new Set(["zone", "parent"]);
/** What changes where a group is. */
const PLACING: ReadonlySet<string> = new Set(["create", "move", "delete_group", "removals"]);
/** What needs to cover the account. */
const COVERING: ReadonlySet<string> = new Set([
  "link",
  "reset",
  "disable",
  "enable",
  "delete",
  "email",
  "sessions",
  "audience",
  "key",
  "delete_key",
]);

const heldText = ({ object, relation, account }: Held) =>
  `${textOf(account)} ${relation} of ${textOf(object)}`;
const storedText = ({ resource, relation, subject }: Relationship) =>
  `${textOf(resource)}#${relation}@${textOf(subject)}#${subject.relation ?? ""}`;

/** Those of `some` that are not among `others`. */
function* without(some: Iterable<Held>, others: Iterable<Held>): Generator<Held> {
  const known = new Set([...others].map(heldText));
  for (const one of some) if (!known.has(heldText(one))) yield one;
}

function difference(some: Moment, others: Moment): readonly Relationship[] {
  const known = new Set(others.relationships.map(storedText));
  return some.relationships.filter((one) => !known.has(storedText(one)));
}

/** What is wrong with an action that has led from one moment to another. */
export function problems(action: Action, before: Moment, after: Moment): string[] {
  return [
    ...gains(action, before, after),
    ...losses(action, before, after),
    ...placements(action, before, after),
    ...writes(action, before, after),
    ...groupChanges(action, before, after),
    ...takeovers(action, before),
  ];
}

/** Nobody newly holds what the caller could not have granted; above an object likewise. */
function* gains({ kind, caller }: Action, { rights: before }: Moment, { rights: after }: Moment) {
  for (const one of without(after.strong(ACCOUNTS), before.strong(ACCOUNTS))) {
    const { object, relation, account } = one;
    // Whoever makes a group is its first owner.
    const isOwn = kind === "create" && !before.has(object) && textOf(account) === textOf(caller);
    if (!isOwn && !before.mayGrant(object, relation, caller)) yield heldText(one);
  }
  for (const one of without(after.ranked(ACCOUNTS), before.ranked(ACCOUNTS))) {
    const rank = one.relation === "owner" ? "owner" : "admin";
    if (before.has(one.object) && !before.ranks(one.object, rank, caller)) {
      yield `${heldText(one)} or above`;
    }
  }
  if (kind !== "move") return;
  for (const one of without(after.overGroups(ACCOUNTS), before.overGroups(ACCOUNTS))) {
    if (!before.manages(one.object, caller)) yield `${heldText(one)} by the move`;
  }
}

/** Nobody loses relations of a zone, which protect an account, to somebody who could not revoke them. */
function* losses(
  { kind, caller }: Action,
  { rights: before }: Moment,
  { rights: after }: Moment,
): Generator<string> {
  // Of accounts and groups whose deletion was decided before.
  if (kind === "removals") return;
  for (const one of without(before.ofZones(ACCOUNTS), after.ofZones(ACCOUNTS))) {
    const { object, relation, account } = one;
    if (textOf(account) === textOf(caller)) continue;
    if (!before.mayGrant(object, relation, caller)) yield `${heldText(one)} is lost`;
  }
}

/** Who changes where an object is manages it, and the former and the new place. */
function* placements({ kind, caller }: Action, before: Moment, after: Moment): Generator<string> {
  for (const one of [...difference(before, after), ...difference(after, before)]) {
    const { resource, relation, subject } = one;
    if (!PLACES.has(relation) || kind === "removals") continue;
    if (resource.type === "group") {
      if (!PLACING.has(kind)) yield `${storedText(one)} by ${kind}`;
      continue;
    }
    const { rights } = before;
    if (!rights.manages(resource, caller)) yield `${textOf(resource)} is placed`;
    if (!rights.manages(subject, caller)) yield `${storedText(one)} without a right to the place`;
    // Another place at the same time is a former one, as well.
    for (const place of rights.of(resource, relation)) {
      if (!rights.manages(place, caller)) yield `${textOf(resource)} leaves ${textOf(place)}`;
    }
  }
}

/** Each relationship that is written or deleted needs the right to it. */
function* writes({ kind, caller }: Action, before: Moment, after: Moment): Generator<string> {
  if (kind !== "write" && kind !== "add" && kind !== "remove") return;
  const { rights } = before;
  for (const one of difference(after, before)) {
    if (!rights.has(one.resource)) yield `${storedText(one)} of an object that nobody has made`;
    if (!mayWrite(rights, one, caller)) yield `${storedText(one)} is written`;
  }
  for (const one of difference(before, after)) {
    if (!mayWrite(rights, one, caller) && !mayRelease(rights, one, caller)) {
      yield `${storedText(one)} is deleted`;
    }
  }
}

function mayWrite(rights: PlainRights, { resource, relation }: Relationship, caller: Account) {
  if (resource.type === "group" && relation === "member") {
    return rights.may(resource, "manage_members", caller);
  }
  return rights.mayGrant(resource, relation, caller);
}

/** The administrators of a group give up what it was granted, but not its relations of zones. */
function mayRelease(rights: PlainRights, one: Relationship, caller: Account): boolean {
  const { resource, relation, subject } = one;
  if (subject.type !== "group" || resource.type === "zone") return false;
  const isStrong = relation === "owner" || relation === "admin" || relation === "member";
  return isStrong && rights.manages(subject, caller);
}

/** Groups are made, moved and deleted by whoever may do it at both places. */
function* groupChanges(action: Action, before: Moment, after: Moment): Generator<string> {
  const { rights } = before;
  const { caller } = action;
  if (action.kind === "create" || action.kind === "move") {
    const isMoved = difference(before, after).length + difference(after, before).length > 0;
    const zone = action.kind === "create" ? action.organizationId : ORGANIZATION;
    const of = action.kind === "create" ? zone : zoneOf(before, action.group, zone);
    const mayPlace =
      action.parentId === ""
        ? rights.may({ type: "zone", id: of }, "create_groups", caller)
        : rights.may({ type: "group", id: action.parentId }, "create_child_groups", caller);
    if (isMoved && !mayPlace) yield `${action.kind} without a right to the place`;
    if (action.parentId !== "" && zoneOf(before, action.parentId, "") !== of) {
      yield `${action.kind} in another zone`;
    }
  }
  if (action.kind !== "move" && action.kind !== "delete_group") return;
  const group = { type: "group", id: action.group };
  if (!rights.may(group, "manage", caller)) yield `${action.kind} without manage`;
  if (action.kind === "move") return;
  for (const one of before.relationships) {
    const { resource, relation, subject } = one;
    if (subject.id === action.group && relation === "parent") yield "a group above others is gone";
    if (subject.id !== action.group || subject.relation !== "member") continue;
    const isRank = relation === "owner" || relation === "admin";
    if (!isRank && resource.type !== "zone") continue;
    if (!rights.mayGrant(resource, relation, caller) && !mayRelease(rights, one, caller)) {
      yield `the ${relation} of ${textOf(resource)} goes with a group`;
    }
  }
}

function zoneOf({ rights }: Moment, id: string, otherwise: string): string {
  const [zone] = rights.of({ type: "group", id }, "zone");
  return zone?.id ?? otherwise;
}

/** After a reset or a key, the caller holds what the account holds; other changes of it need as much. */
function* takeovers(action: Action, { rights }: Moment): Generator<string> {
  if (!("account" in action)) return;
  const { kind, caller, account } = action;
  const zone = { type: "zone", id: ORGANIZATION };
  if (!rights.may(zone, "manage_users", caller)) yield `${kind} without manage_users`;
  if (kind === "factors") {
    if (!rights.holds(zone, "owner", caller)) yield "factors are removed by others than an owner";
  } else if (COVERING.has(kind) && !rights.covers(caller, account, ORGANIZATION)) {
    yield `${kind} of ${textOf(account)}, who holds relations of zones that the caller does not`;
  }
}
