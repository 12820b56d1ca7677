/** A million relationships of a platform, and a check that they decide. */
import { createEmbeddedEngine } from "../../src/authz/embedded/index.ts";
import type { CheckRequest } from "../../src/authz/engine/requests.ts";
import { openSqliteStore } from "../../src/authz/store/sqlite/open-sqlite-store.ts";
import { readModelFile } from "../../src/model/index.ts";
import type { Relationship } from "../../src/model/relationship.ts";
import { MODEL } from "./iam-service.ts";

const RELATIONSHIPS = 1_000_000;
const USERS = 100_000;
/** Teams of people, departments of ten teams, and divisions of ten departments. */
const TEAMS = 10_000;
const DEPARTMENTS = 1_000;
const DIVISIONS = 100;
const PROJECTS = 200_000;
const ORGANIZATIONS = 2_000;
const BATCH = 1000;

/** A user who holds the permission by a team of a division that owns the organization of the project. */
export const CHECK: CheckRequest = {
  subject: { type: "user", id: "u7" },
  resource: { type: "project", id: "p7" },
  permission: "read",
};

/** A check of another user and project each time; about half of them are allowed. */
export function checkAt(index: number): CheckRequest {
  const project = (index * 7919) % PROJECTS;
  const user = index % 2 === 0 ? (project * 7) % USERS : (index * 104_729) % USERS;
  return {
    subject: { type: "user", id: `u${user}` },
    resource: { type: "project", id: `p${project}` },
    permission: "read",
  };
}

/** Writes them into the file of an embedded engine that does not run. */
export async function writePlatform(file: string): Promise<void> {
  const { model } = readModelFile(MODEL);
  if (model === undefined) throw new Error("the model is not valid");
  const store = await openSqliteStore({ file });
  const engine = await createEmbeddedEngine({ model, store });
  let batch: Relationship[] = [];
  const write = async () => {
    const updates = batch.map((relationship) => ({ operation: "TOUCH" as const, relationship }));
    batch = [];
    await engine.writeRelationships({ updates });
  };
  for (const relationship of platformRelationships()) {
    batch.push(relationship);
    if (batch.length === BATCH) await write();
  }
  await engine.close();
}

/**
 * Projects of organizations. Divisions own organizations, departments may view projects, and people are in teams:
 * groups of groups, as in a company.
 */
export function* platformRelationships(): Generator<Relationship> {
  const member = { relation: "member" };
  for (let index = 0; index < DEPARTMENTS; index++) {
    yield relate("group", `v${index % DIVISIONS}`, "member", "group", `d${index}`, member);
  }
  for (let index = 0; index < TEAMS; index++) {
    yield relate("group", `d${index % DEPARTMENTS}`, "member", "group", `t${index}`, member);
  }
  for (let index = 0; index < ORGANIZATIONS; index++) {
    yield relate("organization", `o${index}`, "zone", "zone", "acme");
    yield relate("organization", `o${index}`, "owner", "group", `v${index % DIVISIONS}`, member);
  }
  for (let index = 0; index < PROJECTS; index++) {
    yield relate("project", `p${index}`, "parent", "organization", `o${index % ORGANIZATIONS}`);
    yield relate("project", `p${index}`, "developer", "user", `u${(index * 7) % USERS}`);
    yield relate("project", `p${index}`, "viewer", "group", `d${index % DEPARTMENTS}`, member);
  }
  const left = RELATIONSHIPS - DEPARTMENTS - TEAMS - 2 * ORGANIZATIONS - 3 * PROJECTS;
  for (let index = 0; index < left; index++) {
    const team = `t${(index + Math.floor(index / TEAMS)) % TEAMS}`;
    yield relate("group", team, "member", "user", `u${index % USERS}`);
  }
}

function relate(
  type: string,
  id: string,
  relation: string,
  subjectType: string,
  subjectId: string,
  set: { readonly relation?: string } = {},
): Relationship {
  const subject = { type: subjectType, id: subjectId, ...set };
  return { resource: { type, id }, relation, subject };
}
