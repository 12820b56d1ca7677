import {
  type AuthorizationEngine,
  MAX_PRECONDITIONS,
  MAX_UPDATES,
  type RelationshipFilter,
  type RelationshipUpdate,
  type WriteRequest,
} from "svc-access/authz";
import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import { RelationshipOperation } from "../../../gen/svc/iam/v1/permission_pb.ts";
import type { IAMPermissionServiceHandlers } from "../../../gen/svc/iam/v1/permission_server.ts";
import {
  assertAtMost,
  relationshipMessage,
  toCallOptions,
  toFilter,
  toPage,
  toPrecondition,
  toRelationship,
  toWriteOperation,
} from "../../ground/rpc/relationship-messages.ts";
import { recordWrite } from "../relationships/record-write.ts";
import { askEngine, refusalOf } from "./engine-refusal.ts";
import type { RelationshipWatches } from "./relationship-watches.ts";
import type { ServiceRights } from "./service-rights.ts";

/** What the handlers need. */
export interface RelationshipHandlersOptions {
  readonly engine: AuthorizationEngine;
  readonly rights: ServiceRights;
  readonly watches: Pick<RelationshipWatches, "watch">;
}

/** The RPCs about relationships as they are stored. */
type RelationshipHandlers = Pick<
  IAMPermissionServiceHandlers,
  | "writeRelationship"
  | "deleteRelationship"
  | "writeRelationships"
  | "readRelationships"
  | "watchRelationships"
>;

/** The handlers that write, read and watch relationships of the types that their service may. */
export function relationshipHandlers({
  engine,
  rights,
  watches,
}: RelationshipHandlersOptions): RelationshipHandlers {
  const write = async (request: WriteRequest, call: CallContext) => {
    const { updates, preconditions = [] } = request;
    assertAtMost("updates", updates.length, MAX_UPDATES);
    assertAtMost("preconditions", preconditions.length, MAX_PRECONDITIONS);
    const [first] = updates;
    if (first !== undefined && updates.length === 1) nameResource(first, call);
    for (const { relationship } of updates) {
      rights.assertMayWrite(relationship.resource.type, call);
    }
    for (const { filter } of preconditions) assertMayMatch(rights, filter, call);
    const written = await askEngine(() =>
      engine.writeRelationships(request, { signal: call.signal }),
    );
    await recordWrite(updates, call);
    return written;
  };

  return {
    async writeRelationship({ relationship, mode, preconditions }, call) {
      const operation = toWriteOperation(mode);
      const update = { operation, relationship: toRelationship(relationship, "relationship") };
      return write({ updates: [update], preconditions: preconditions.map(toPrecondition) }, call);
    },

    async deleteRelationship({ relationship, preconditions }, call) {
      const update = {
        operation: "DELETE" as const,
        relationship: toRelationship(relationship, "relationship"),
      };
      return write({ updates: [update], preconditions: preconditions.map(toPrecondition) }, call);
    },

    async writeRelationships({ updates, preconditions }, call) {
      return write(
        {
          updates: updates.map(({ operation, relationship }) => ({
            operation: toOperation(operation),
            relationship: toRelationship(relationship, "relationship"),
          })),
          preconditions: preconditions.map(toPrecondition),
        },
        call,
      );
    },

    async readRelationships(request, call) {
      const filter = toFilter(request.filter);
      if (filter.resourceType === undefined) rights.assertMayReadAll(call);
      else rights.assertMayRead(filter.resourceType, call);
      if (request.any && request.pageToken !== "") {
        throw invalid("any is true, so page_token must be empty");
      }
      const options = toCallOptions(request.consistency, call);
      const { items, nextCursor, revision } = await askEngine(() =>
        engine.readRelationships(filter, { ...toPage(request), any: request.any }, options),
      );
      return {
        relationships: items.map(relationshipMessage),
        nextPageToken: nextCursor ?? "",
        revision,
      };
    },

    async *watchRelationships({ fromRevision }, call) {
      rights.assertReads(call);
      const mayRead = rights.readTypes(call);
      const { subjectId: service } = requirePrincipal(call);
      const { signal } = call;
      try {
        for await (const news of watches.watch({ from: fromRevision, service, mayRead, signal })) {
          yield {
            revision: news.revision,
            updates: news.updates.map(({ operation, relationship }) => ({
              operation: RelationshipOperation[operation],
              relationship: relationshipMessage(relationship),
            })),
          };
        }
      } catch (error) {
        throw refusalOf(error);
      }
    },
  };
}

const OPERATIONS: Readonly<
  Record<RelationshipOperation, RelationshipUpdate["operation"] | undefined>
> = {
  [RelationshipOperation.UNSPECIFIED]: undefined,
  [RelationshipOperation.CREATE]: "CREATE",
  [RelationshipOperation.TOUCH]: "TOUCH",
  [RelationshipOperation.DELETE]: "DELETE",
};

function toOperation(sent: RelationshipOperation): RelationshipUpdate["operation"] {
  const operation = OPERATIONS[sent];
  if (operation !== undefined) return operation;
  throw invalid("the operation of an update must be CREATE, TOUCH or DELETE");
}

/** A precondition says what is stored; of the types that a service writes, its writes say it too. */
function assertMayMatch(
  rights: ServiceRights,
  { resourceType }: RelationshipFilter,
  call: CallContext,
): void {
  if (resourceType === undefined) rights.assertMayReadAll(call);
  else if (!rights.writeTypes(call)(resourceType)) rights.assertMayRead(resourceType, call);
}

/** For the audit of a write that is refused. */
function nameResource({ relationship: { resource } }: RelationshipUpdate, call: CallContext): void {
  try {
    call.audit.setResource(`${resource.type}:${resource.id}`);
  } catch {
    // Not a valid object: the engine says so.
  }
}

function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}
