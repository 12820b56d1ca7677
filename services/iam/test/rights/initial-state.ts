/** Where a random sequence of changes begins. */
import type { Random } from "../support/random.ts";
import type { Account } from "./plain-rights.ts";

const USERS = ["root", "admin", "padmin", "umanager", "gmanager", "ann", "ben"];
const SERVICE_ACCOUNTS = ["robot", "deployer"];

/** Everybody who takes steps, and whom relations are granted to. */
export const ACCOUNTS: readonly Account[] = [
  ...USERS.map((id) => ({ type: "user", id })),
  ...SERVICE_ACCOUNTS.map((id) => ({ type: "service_account", id })),
];

/** The organization of IAM, and another one with a zone. */
export const ORGANIZATION = "acme";
export const ZONES = [ORGANIZATION, "other"] as const;

const GROUPS = ["g1", "g2", "g3", "g4", "g5"];
const STRONG = ["owner", "admin", "permission_admin", "user_manager"];
const WEAK = ["group_manager", "user_viewer", "group_viewer"];

/** A group as it begins; without a zone, it is an orphan. */
export interface InitialGroup {
  readonly id: string;
  readonly zone: string | undefined;
}

/** The key that a service account begins with. */
export function keyOf(serviceAccount: string): string {
  return `key-of-${serviceAccount}`;
}

/** The relationships, as `zone:acme#owner@user:root`, and the groups. */
export interface InitialState {
  readonly relationships: readonly string[];
  readonly groups: readonly InitialGroup[];
  /** The ids of users who are disabled. */
  readonly disabled: ReadonlySet<string>;
}

/**
 * Draws an initial state: zones with owners, groups that own zones, groups in groups, orphans, and what belongs to
 * organizations. Each user whose name is that of a relation of the zone mostly holds it.
 */
export function initialState(random: Random): InitialState {
  const found = new Set<string>();
  for (const [zone, user] of [
    ["acme", "root"],
    ["other", random.pick(USERS.filter((id) => id !== "ben"))],
  ] as const) {
    const group = random.pick(GROUPS);
    const way = random.chance(30)
      ? [`group:${group}#member`, `group:${group}#member@user:${user}`]
      : [];
    found.add(`zone:${zone}#owner@${way[0] ?? `user:${user}`}`);
    if (way[1] !== undefined) found.add(way[1]);
  }
  const usual = { admin: "admin", padmin: "permission_admin", umanager: "user_manager" };
  for (const [id, relation] of Object.entries({ ...usual, gmanager: "group_manager" })) {
    if (random.chance(85)) found.add(`zone:acme#${relation}@user:${id}`);
  }
  const account = () => {
    const { type, id } = random.pick(ACCOUNTS);
    return `${type}:${id}`;
  };
  const groups = GROUPS.map((id) => ({
    id,
    zone: random.chance(15) ? undefined : random.chance(85) ? "acme" : "other",
  }));
  for (const [index, { id, zone }] of groups.entries()) {
    if (zone !== undefined) found.add(`group:${id}#zone@zone:${zone}`);
    const above = groups.slice(0, index).filter((one) => one.zone === zone);
    if (above.length > 0 && random.chance(40)) {
      found.add(`group:${id}#parent@group:${random.pick(above).id}`);
    }
    for (const relation of ["owner", "manager", "permission_admin", "member", "member"]) {
      if (random.chance(45)) found.add(`group:${id}#${relation}@${account()}`);
    }
    const others = GROUPS.slice(0, index);
    if (others.length > 0 && random.chance(45)) {
      found.add(`group:${random.pick(others)}#member@group:${id}#member`);
    }
    if (random.chance(45)) {
      const of = random.chance(80) ? "acme" : "other";
      const relation = random.pick(random.chance(85) ? STRONG : WEAK);
      found.add(`zone:${of}#${relation}@group:${id}#member`);
    }
    if (random.chance(30)) {
      found.add(
        `group:${random.pick(GROUPS)}#${random.pick(STRONG.slice(0, 1))}@group:${id}#member`,
      );
    }
  }
  for (const zone of ZONES) {
    for (let count = random.below(3); count > 0; count--) {
      found.add(`zone:${zone}#${random.pick([...STRONG.slice(1), ...WEAK])}@${account()}`);
    }
  }
  for (const organization of ["o1", "o2"]) {
    if (random.chance(85)) found.add(`organization:${organization}#zone@zone:acme`);
    for (const relation of ["owner", "admin", random.pick(["owner", "admin"])]) {
      found.add(`organization:${organization}#${relation}@${subject(random)}`);
    }
  }
  for (const project of ["p1", "p2"]) {
    if (random.chance(70)) {
      found.add(`project:${project}#parent@organization:${random.pick(["o1", "o2"])}`);
    }
    for (const relation of ["owner", "admin", "developer"]) {
      if (random.chance(60)) found.add(`project:${project}#${relation}@${subject(random)}`);
    }
    found.add(`project:${project}#viewer@user:ann`);
  }
  const disabled = new Set(random.chance(40) ? ["ben"] : []);
  if (disabled.size > 0) found.add(`zone:${random.pick(ZONES)}#owner@user:ben`);
  return { relationships: [...found], groups, disabled };
}

function subject(random: Random): string {
  return random.chance(70) ? `user:${random.pick(USERS)}` : `group:${random.pick(GROUPS)}#member`;
}
