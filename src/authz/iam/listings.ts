import type { Relationship, RelationshipFilter } from "../../model/relationship.ts";
import type {
  FoundSubject,
  LookupResourcesRequest,
  LookupSubjectsRequest,
  Page,
  PageRequest,
} from "../engine/requests.ts";
import type { StoppableCall } from "../engine/running-calls.ts";
import { invalid, pageSizeOf } from "../engine/validate-request.ts";
import { given } from "./checks.ts";
import { fromRelationship, toAny, toFilter } from "./messages.ts";
import type { IamSession } from "./session.ts";

/** Lists the relationships that match a filter, of the types that the service's model has. */
export async function readRelationships(
  session: IamSession,
  filter: RelationshipFilter,
  page: PageRequest,
  call: StoppableCall,
): Promise<Page<Relationship>> {
  const { calls, model, validator } = session;
  validator.filter(filter);
  const request = { filter: toFilter(filter), ...toPage(page), any: page.any === true };
  const response = await session.read(call, (consistency, options) =>
    calls.readRelationships({ ...request, ...given(consistency) }, options),
  );
  const { relationships, nextPageToken, revision } = response;
  // Those of other services are not shown.
  const items = relationships
    .map(fromRelationship)
    .filter(({ resource }) => model.definitions.has(resource.type));
  return { items, revision, ...nextCursor(nextPageToken) };
}

/** Lists the ids of the resources that a subject holds a permission on. */
export async function lookupResources(
  session: IamSession,
  lookup: LookupResourcesRequest,
  call: StoppableCall,
): Promise<Page<string>> {
  session.validator.checkAny(lookup);
  const request = { ...toAny(lookup), ...toPage(lookup) };
  const response = await session.read(call, (consistency, options) =>
    session.calls.lookupResources({ ...request, ...given(consistency) }, options),
  );
  const { resourceIds, nextPageToken, revision } = response;
  return { items: resourceIds, revision, ...nextCursor(nextPageToken) };
}

/** Lists the subjects that hold a permission on a resource. */
export async function lookupSubjects(
  session: IamSession,
  lookup: LookupSubjectsRequest,
  call: StoppableCall,
): Promise<Page<FoundSubject>> {
  session.validator.lookupSubjects(lookup);
  const { resource, permission, subjectType, subjectRelation = "" } = lookup;
  const { type, id } = resource;
  const object = { resource: { type, id }, permission };
  const request = { ...object, subjectType, subjectRelation, ...toPage(lookup) };
  const response = await session.read(call, (consistency, options) =>
    session.calls.lookupSubjects({ ...request, ...given(consistency) }, options),
  );
  const { subjects, nextPageToken, revision } = response;
  const items = subjects.map(({ subjectId, excludedSubjectIds }) => ({
    id: subjectId,
    excluded: excludedSubjectIds,
  }));
  return { items, revision, ...nextCursor(nextPageToken) };
}

function toPage(page: PageRequest): { readonly pageSize: number; readonly pageToken: string } {
  const pageSize = pageSizeOf(page);
  const { cursor } = page;
  // An empty token would be the first page.
  if (cursor === "" || (cursor !== undefined && typeof cursor !== "string")) {
    throw invalid("the cursor is malformed");
  }
  return { pageSize, pageToken: cursor ?? "" };
}

function nextCursor(token: string): { nextCursor?: string } {
  return token === "" ? {} : { nextCursor: token };
}
