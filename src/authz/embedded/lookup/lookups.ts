import type { Relationship, RelationshipFilter } from "../../../model/relationship.ts";
import { formatRelationship } from "../../../model/relationship-text.ts";
import type {
  CheckAnyRequest,
  FoundSubject,
  LookupResourcesRequest,
  LookupSubjectsRequest,
  Page,
  PageRequest,
  Revision,
} from "../../engine/requests.ts";
import { pageSizeOf } from "../../engine/validate-request.ts";
import type { Checker } from "../check/checker.ts";
import { findEdges, findOnlyEdge } from "../graph/find-edges.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import type { Steps } from "../graph/turns.ts";
import { type ListedState, type Listing, Listings, tooManyResults } from "./listings.ts";
import { ResourceFinder } from "./resource-finder.ts";
import { sortEdges } from "./sort-edges.ts";
import { SubjectFinder } from "./subject-finder.ts";

/**
 * Lists the requested items, a page at a time. The request is read once, and not again when the
 * work restarts.
 */
export class Lookups {
  readonly #graph: RelationshipGraph;
  readonly #maxResults: number;
  readonly #state: () => ListedState;
  readonly #resources: ResourceFinder;
  readonly #subjects: SubjectFinder;
  readonly #listings = new Listings();

  constructor(
    graph: RelationshipGraph,
    checker: Checker,
    maxResults: number,
    state: () => ListedState,
  ) {
    this.#graph = graph;
    this.#maxResults = maxResults;
    this.#state = state;
    this.#resources = new ResourceFinder(graph, checker, maxResults);
    this.#subjects = new SubjectFinder(graph, checker, maxResults);
  }

  /** Whether `resources` would list anything. */
  anyResource(request: CheckAnyRequest): Steps<boolean> {
    return this.#resources.any(request);
  }

  resources(request: LookupResourcesRequest): () => Steps<Page<string>> {
    const { resourceType, permission, subject } = request;
    const { type, id, relation = null } = subject;
    const listing = ["resources", resourceType, permission, type, id, relation];
    const all = () => this.#resources.find(request);
    return () => this.#listings.page(listing, request, this.#state(), all, (id) => id);
  }

  subjects(request: LookupSubjectsRequest): () => Steps<Page<FoundSubject>> {
    const { resource, permission, subjectType, subjectRelation = null } = request;
    const { type, id } = resource;
    const listing = ["subjects", type, id, permission, subjectType, subjectRelation];
    const all = () => this.#subjects.find(request);
    return () => this.#listings.page(listing, request, this.#state(), all, ({ id }) => id);
  }

  /** The first page of a listing of one relationship or none, which is most; undefined if it needs `relationships`. */
  fewRelationships(filter: RelationshipFilter, page: PageRequest): Page<Relationship> | undefined {
    if (page.cursor !== undefined) return undefined;
    pageSizeOf(page);
    const edge = findOnlyEdge(this.#graph, filter);
    if (edge === undefined) return undefined;
    const items = edge < 0 ? [] : [this.#graph.relationshipOf(edge)];
    return { items, revision: this.#state().revision };
  }

  relationships(filter: RelationshipFilter, page: PageRequest): () => Steps<Page<Relationship>> {
    if (page.any === true) {
      return () => someRelationships(this.#graph, filter, page, this.#state().revision);
    }
    const { resourceType, resourceId, relation, subject } = filter;
    const of = [resourceType, resourceId, relation, subject?.type, subject?.id, subject?.relation];
    // A copy as text: the caller may change its object before the next page.
    const listing = ["relationships", ...of.map((part) => part ?? null)];
    const all = () => listRelationships(this.#graph, filter, this.#maxResults);
    return () => this.#listings.page(listing, page, this.#state(), all, formatRelationship);
  }
}

/** Any relationships that match a filter, as many as a page has. */
function* someRelationships(
  graph: RelationshipGraph,
  filter: RelationshipFilter,
  page: PageRequest,
  revision: Revision,
): Steps<Page<Relationship>> {
  const size = pageSizeOf(page);
  const items: Relationship[] = [];
  let steps = 0;
  for (const edge of findEdges(graph, filter)) {
    if (++steps % EDGES_A_STEP === 0) yield;
    items.push(graph.relationshipOf(edge));
    if (items.length === size) break;
  }
  return { items, revision };
}

/** How many relationships are read before a pause is possible. */
const EDGES_A_STEP = 1024;

/**
 * The relationships that match a filter, sorted as they are written. Only their edges are kept,
 * which are a small part of what the relationships take.
 *
 * @throws AuthzError RESOURCE_EXHAUSTED if there are more than `most`
 */
function* listRelationships(
  graph: RelationshipGraph,
  filter: RelationshipFilter,
  most: number,
): Steps<Listing<Relationship>> {
  const edges: number[] = [];
  let steps = 0;
  for (const edge of findEdges(graph, filter)) {
    if (++steps % EDGES_A_STEP === 0) yield;
    if (edges.push(edge) > most) throw tooManyResults(most);
  }
  // Most often, as of the groups of a user: nothing to sort.
  if (edges.length < 2) return edges.map((edge) => graph.relationshipOf(edge));
  const sorted = yield* sortEdges(graph, Uint32Array.from(edges));
  return {
    length: sorted.length,
    at: (index) => graph.relationshipOf(sorted[index] as number),
  };
}
