import type { AuthorizationEngine, SubjectReference } from "svc-access/authz";
import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import type { ListRelationshipsRequest } from "../../../gen/svc/iam/v1/administration_pb.ts";
import type { IAMAuthorizationServiceHandlers } from "../../../gen/svc/iam/v1/administration_server.ts";
import type { Consistency } from "../../../gen/svc/iam/v1/relationship_pb.ts";
import {
  relationshipMessage,
  toCallOptions,
  toObject,
  toSubject,
} from "../../ground/rpc/relationship-messages.ts";
import type { OutsideValues } from "../../ground/secrets/outside-values.ts";
import { RightsModel } from "../../rights/rights-model.ts";
import { AccessList } from "./access-list.ts";
import { checkOf, explanationSteps } from "./check-and-explain.ts";
import { ListTokens } from "./list-token.ts";
import { RelationshipList } from "./relationship-list.ts";
import { Visibility } from "./visibility.ts";
import { type RelationshipWriterOptions, writeRelationships } from "./write-relationships.ts";

/** What the handlers need. */
export interface AuthorizationHandlersOptions extends RelationshipWriterOptions {
  readonly engine: AuthorizationEngine;
  /** Seals page tokens. */
  readonly pageTokens: OutsideValues;
}

const MOST = 1000;

/** The handlers of IAMAuthorizationService. */
export function authorizationHandlers(
  options: AuthorizationHandlersOptions,
): IAMAuthorizationServiceHandlers {
  const { engine, pageTokens } = options;
  const model = new RightsModel(engine.model);
  const begin = (consistency: Consistency | undefined, context: CallContext) => {
    const call = toCallOptions(consistency, context);
    const caller = requirePrincipal(context);
    const visibility = new Visibility(engine, model, caller, call);
    const tokens = (rpc: string) => new ListTokens(pageTokens, rpc, caller);
    return { call, visibility, tokens };
  };
  const grantsTo = async (
    subject: SubjectReference,
    { resourceType, resourceId, relation, pageSize, pageToken }: ListRelationshipsRequest,
    { call, visibility, tokens }: ReturnType<typeof begin>,
  ) => {
    const { type, id } = subject;
    if (subject.relation === undefined) {
      throw new ServiceError("INVALID_ARGUMENT", "subject must be a set, such as group#member");
    }
    model.assertMember(type, subject.relation);
    await visibility.assertMaySee([{ type, id }]);
    const listed = {
      resourceType,
      ...(resourceId && { resourceId }),
      ...(relation && { relation }),
      subject,
      isListed: (name: string) => model.isReleasable({ type: resourceType, relation: name }),
    };
    const list = new RelationshipList(engine, tokens("ListRelationships"), call);
    const page = await list.grantsPage(listed, sizeOf(pageSize, 100), pageToken);
    return { ...page, relationships: page.relationships.map(relationshipMessage) };
  };
  return {
    async writeRelationships(request, context) {
      const call = { signal: context.signal, newest: true };
      const visibility = new Visibility(engine, model, requirePrincipal(context), call);
      return { revision: await writeRelationships(request, options, visibility, context) };
    },

    async checkPermission(request, context) {
      const { call, visibility } = begin(request.consistency, context);
      const check = await checkOf(request, { model, visibility }, context);
      const { allowed, revision } = await engine.check(check, call);
      return { allowed, revision };
    },

    async explainPermission(request, context) {
      const { call, visibility } = begin(request.consistency, context);
      const check = await checkOf(request, { model, visibility }, context);
      const { allowed, explanation, revision } = await engine.explain(check, call);
      return { allowed, steps: [...(await explanationSteps(explanation, visibility))], revision };
    },

    async listAccess(request, context) {
      const { call, visibility, tokens } = begin(request.consistency, context);
      const resource = toObject(request.resource, "resource");
      const { permission, subjectType, pageToken } = request;
      model.assertMember(resource.type, permission);
      if (subjectType !== "") model.assertRelation(subjectType, undefined);
      await visibility.assertMaySee([resource]);
      const listed = { resource, permission, subjectType };
      const list = new AccessList(engine, visibility, tokens("ListAccess"), call);
      const page = await list.page(listed, sizeOf(request.pageSize, 50), pageToken);
      const { entries, nextPageToken, revision, incomplete } = page;
      return {
        entries: entries.map(({ subject, path, notShown = "" }) => ({
          ...(subject === undefined
            ? {}
            : {
                subject: { type: subject.type, id: subject.id, relation: subject.relation ?? "" },
              }),
          path: path.map(relationshipMessage),
          notShown,
        })),
        nextPageToken,
        revision,
        incomplete,
      };
    },

    async listRelationships(request, context) {
      const begun = begin(request.consistency, context);
      const { call, visibility } = begun;
      const { resourceType, resourceId, relation, pageSize, pageToken } = request;
      assertRelation(model, resourceType, relation);
      if (request.subject !== undefined) {
        return grantsTo(toSubject(request.subject, "subject"), request, begun);
      }
      if (resourceId !== "") {
        await visibility.assertMaySee([{ type: resourceType, id: resourceId }]);
      }
      const permission = model.viewPermission(resourceType);
      if (permission === undefined) throw new ServiceError("FORBIDDEN");
      const { subjectType, subjectId } = requirePrincipal(context);
      const listed = {
        resourceType,
        ...(resourceId === "" ? {} : { resourceId }),
        ...(relation === "" ? {} : { relation }),
        visibleTo: { permission, subject: { type: subjectType, id: subjectId } },
      };
      const list = new RelationshipList(engine, begun.tokens("ListRelationships"), call);
      const page = await list.page(listed, sizeOf(pageSize, 100), pageToken);
      return {
        relationships: page.relationships.map(relationshipMessage),
        nextPageToken: page.nextPageToken,
        revision: page.revision,
      };
    },
  };
}

function assertRelation(model: RightsModel, type: string, relation: string): void {
  if (type === "") throw new ServiceError("INVALID_ARGUMENT", "resource_type is required");
  model.assertRelation(type, relation === "" ? undefined : relation);
}

function sizeOf(pageSize: number, byDefault: number): number {
  if (pageSize < 0 || pageSize > MOST) {
    throw new ServiceError("INVALID_ARGUMENT", `page_size must be 0 to ${MOST}`);
  }
  return pageSize === 0 ? byDefault : pageSize;
}
