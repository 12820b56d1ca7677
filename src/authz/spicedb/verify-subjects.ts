import { visitLeaves } from "../../model/expression.ts";
import type { Model } from "../../model/index.ts";
import type { FoundSubject, LookupSubjectsRequest } from "../engine.ts";
import { WILDCARD } from "../object-id.ts";
import { CHUNK, decide } from "./checks.ts";
import { atExactly } from "./freshness.ts";
import { reachableMembers } from "./member-steps.ts";
import type { Session } from "./session.ts";

/**
 * The found subjects that a check allows at the same state.
 *
 * SpiceDB 1.54 finds too many where `self` stands below an intersection: of
 * `banned & (self + self)` it finds the object itself, which its own check denies. So wherever a
 * permission comes to `self`, what was found is checked.
 */
export async function verifySubjects(
  session: Session,
  request: LookupSubjectsRequest,
  found: readonly FoundSubject[],
  zedToken: string,
  signal: AbortSignal | undefined,
): Promise<readonly FoundSubject[]> {
  const { resource, permission, subjectType: type, subjectRelation: relation } = request;
  if (!comesToSelf(session.model, resource.type, permission)) return found;
  const named = relation === undefined ? {} : { relation };
  const concrete = found.filter(({ id }) => id !== WILDCARD);
  const denied = new Set<string>();
  for (let start = 0; start < concrete.length; start += CHUNK) {
    const chunk = concrete.slice(start, start + CHUNK);
    const requests = chunk.map(({ id }) => ({
      resource,
      permission,
      subject: { type, id, ...named },
    }));
    const { items } = await decide(session, requests, atExactly(zedToken), signal);
    for (const [index, { allowed, error }] of items.entries()) {
      if (error !== undefined) throw error;
      if (!allowed) denied.add(chunk[index]?.id ?? "");
    }
  }
  return found.filter(({ id }) => !denied.has(id));
}

function comesToSelf(model: Model, type: string, name: string): boolean {
  return [...reachableMembers(model, type, name)].some((member) => {
    const [type = "", name = ""] = member.split("#");
    const expression = model.definitions.get(type)?.permissions.get(name)?.expression;
    let self = false;
    if (expression !== undefined) {
      visitLeaves(expression, ({ kind }) => {
        self ||= kind === "self";
      });
    }
    return self;
  });
}
