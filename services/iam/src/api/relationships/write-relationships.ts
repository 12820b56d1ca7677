import {
  AuthzError,
  MAX_PRECONDITIONS,
  MAX_UPDATES,
  type ObjectReference,
  type Precondition,
  type RelationshipUpdate,
  type Revision,
} from "svc-access/authz";
import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import type { WriteRelationshipsRequest } from "../../../gen/svc/iam/v1/administration_pb.ts";
import {
  toPrecondition,
  toRelationship,
  toWriteOperation,
} from "../../ground/rpc/relationship-messages.ts";
import { unique } from "../../rights/decided-path.ts";
import type { LastOwner } from "../../rights/last-owner.ts";
import type { RelationshipRules } from "../../rights/relationship-rules.ts";
import { recordWrite } from "./record-write.ts";
import type { Visibility } from "./visibility.ts";

/** What the write needs. */
export interface RelationshipWriterOptions {
  readonly rules: Pick<RelationshipRules, "assertMayWrite">;
  readonly lastOwner: Pick<LastOwner, "write">;
}

/**
 * Writes relationships for people and programs that administer them.
 *
 * @throws ServiceError INVALID_ARGUMENT, FORBIDDEN, ALREADY_EXISTS or FAILED_PRECONDITION; AuthzError
 */
export async function writeRelationships(
  request: WriteRelationshipsRequest,
  { rules, lastOwner }: RelationshipWriterOptions,
  visibility: Visibility,
  context: CallContext,
): Promise<Revision> {
  const updates = updatesOf(request);
  const given = request.preconditions.map(toPrecondition);
  await visibility.assertMaySee(given.map(resourceOf));
  const { signal } = context;
  const caller = requirePrincipal(context);
  const decide = async () => {
    const allowed = await rules.assertMayWrite(caller, updates, signal);
    const preconditions = unique([...given, ...allowed.preconditions]);
    if (preconditions.length <= MAX_PRECONDITIONS) return preconditions;
    throw invalid(
      `a call relies on at most ${MAX_PRECONDITIONS} preconditions, with one for each resource and for each group that is granted something: write fewer at once`,
    );
  };
  const { revision } = await lastOwner.write(updates, decide, signal).catch(withoutNames);
  await recordWrite(updates, context);
  return revision;
}

function updatesOf(request: WriteRelationshipsRequest): RelationshipUpdate[] {
  const { relationships, deletions, mode } = request;
  const count = relationships.length + deletions.length;
  if (count === 0) throw invalid("relationships or deletions are required");
  if (count > MAX_UPDATES) {
    throw invalid(`a call has at most ${MAX_UPDATES} relationships, not ${count}`);
  }
  const operation = toWriteOperation(mode);
  return [
    ...relationships.map((one, index) => ({
      operation,
      relationship: toRelationship(one, `relationships[${index}]`),
    })),
    ...deletions.map((one, index) => ({
      operation: "DELETE" as const,
      relationship: toRelationship(one, `deletions[${index}]`),
    })),
  ];
}

/** A precondition says what is stored, so it is about a resource that the caller may see. */
function resourceOf({ filter }: Precondition): ObjectReference {
  const { resourceType: type, resourceId: id } = filter;
  if (type === undefined || id === undefined) {
    throw invalid("the filter of a precondition needs resource_type and resource_id");
  }
  return { type, id };
}

/** What failed may name relationships that the caller may not see. */
function withoutNames(error: unknown): never {
  if (!(error instanceof AuthzError) || error.code !== "FAILED_PRECONDITION") throw error;
  throw new ServiceError(
    "FAILED_PRECONDITION",
    "a precondition does not hold, a group that is granted something does not exist, a set would contain itself, or relationships were changed at the same time: read them, and call again",
    { cause: error },
  );
}

function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}
