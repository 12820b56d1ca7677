import { randomUUID } from "node:crypto";
import type { v1 } from "@authzed/authzed-node";
import type { Model } from "../../../model/index.ts";
import { WILDCARD } from "../../../model/object-id.ts";
import { hasMember, memberSteps } from "../../../model/schema/dependencies.ts";
import { visitLeaves } from "../../../model/schema/model.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { FoundSubject, LookupSubjectsRequest } from "../../engine/requests.ts";
import { CHUNK } from "../client/check-calls.ts";
import type { SpicedbSession } from "../client/session.ts";
import { decide } from "./failed-bulk-checks.ts";
import { refuseAmongWildcards } from "./userset-wildcards.ts";

/** SpiceDB's result, and its state. */
export interface FoundSubjects {
  readonly items: readonly FoundSubject[];
  readonly zedToken: string | undefined;
}

/**
 * Corrects the subjects of a permission that SpiceDB found, with checks at the same state.
 *
 * For SpiceDB 1.54. It finds wrong subjects for `self`, which it treats as a subject of every type
 * with the id of the object, and for `.all` over objects whose type lacks the permission, which it
 * skips. So the results are checked, and so is `*`, with a subject that no relationship names.
 * Below a minus, wrong results are missing subjects: they are added if they can only be the
 * resource itself.
 *
 * @param consistency of the lookup, used if it found nothing and so returned no state
 * @throws AuthzError UNIMPLEMENTED if the missing subjects cannot be determined
 */
export async function verifySubjects(
  session: SpicedbSession,
  request: LookupSubjectsRequest,
  found: FoundSubjects,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
): Promise<FoundSubjects> {
  const { resource, permission, subjectType: type, subjectRelation: relation } = request;
  const named = relation === undefined ? {} : { relation };
  const doubts = doubtsOf(session.model, resource.type, permission);
  if (doubts.missing) throw unknown(request);
  if (!doubts.mistaken && !doubts.ofItself) return found;
  refuseAmongWildcards(session.model, resource.type, permission, { type, ...named });

  const all = found.items.find(({ id }) => id === WILDCARD);
  const unnamed = randomUUID();
  const ids = new Set(found.items.map(({ id }) => (id === WILDCARD ? unnamed : id)));
  if (doubts.ofItself) ids.add(resource.id);
  const requests = [...ids].map((id) => ({
    ...{ resource, permission },
    subject: { type, id, ...named },
  }));
  const allowed = new Set<string>();
  let { zedToken } = found;
  for (let start = 0; start < requests.length; start += CHUNK) {
    const chunk = requests.slice(start, start + CHUNK);
    const decided = await decide(session, chunk, consistency, signal);
    zedToken ??= decided.zedToken;
    for (const [index, { allowed: holds, error }] of decided.items.entries()) {
      if (error !== undefined) throw error;
      if (holds) allowed.add(chunk[index]?.subject.id ?? "");
    }
  }
  if (all !== undefined && !allowed.delete(unnamed)) throw unknown(request);
  const items: FoundSubject[] = [...allowed].map((id) => ({ id, excluded: [] }));
  if (all !== undefined) {
    const denied = [...ids].filter((id) => id !== unnamed && !allowed.has(id));
    const excluded = new Set([...all.excluded, ...denied].filter((id) => !allowed.has(id)));
    items.push({ id: WILDCARD, excluded: [...excluded].sort() });
  }
  return { items, zedToken };
}

/** The possible faults of a lookup of the subjects of a permission. */
interface Doubts {
  /** The resource may be found, or missing, for another object of its id. */
  ofItself: boolean;
  /** Some that do not hold it may be found. */
  mistaken: boolean;
  /** Some that hold it may be missing. */
  missing: boolean;
}

function doubtsOf(model: Model, type: string, permission: string): Doubts {
  const doubts: Doubts = { ofItself: false, mistaken: false, missing: false };
  const reached = new Map<string, Place>();
  const add = (place: Place) => reached.set(JSON.stringify(Object.values(place)), place);
  add({ type, name: permission, isResource: true, isSubtracted: false });
  // Iterating a map includes entries that are added meanwhile.
  for (const { type, name, isResource, isSubtracted } of reached.values()) {
    const definition = model.definitions.get(type);
    const expression = definition?.permissions.get(name)?.expression;
    if (definition === undefined || expression === undefined) {
      for (const { target } of memberSteps(model, type, name)) {
        add({ ...target, isResource: false, isSubtracted });
      }
      continue;
    }
    visitLeaves(expression, (leaf, subtracted) => {
      const below = isSubtracted || subtracted;
      const doubt = () => {
        doubts[below ? "missing" : "mistaken"] = true;
      };
      if (leaf.kind === "reference") {
        add({ type, name: leaf.name, isResource, isSubtracted: below });
      } else if (leaf.kind === "self") {
        if (isResource) doubts.ofItself = true;
        else doubt();
      } else if (leaf.kind === "arrow") {
        for (const subject of definition.relations.get(leaf.relation)?.subjects ?? []) {
          const target = { type: subject.type, name: leaf.permission };
          if (hasMember(model, target.type, target.name)) {
            add({ ...target, isResource: false, isSubtracted: below });
          } else if (leaf.function === "all") doubt();
        }
      }
    });
  }
  return doubts;
}

/** A relation or permission that a lookup reaches. */
interface Place {
  readonly type: string;
  readonly name: string;
  /** Whether it belongs to the resource itself, and not to an object that it leads to. */
  readonly isResource: boolean;
  readonly isSubtracted: boolean;
}

function unknown({ resource, permission }: LookupSubjectsRequest): AuthzError {
  return new AuthzError(
    "UNIMPLEMENTED",
    `SpiceDB cannot look up the subjects of ${resource.type}#${permission}: it misreads "self", and ".all" over a type without the permission; check the subjects one by one, or avoid these in the model`,
  );
}
