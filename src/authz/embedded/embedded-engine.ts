import type { Model } from "../../model/index.ts";
import { AuthzError } from "../authz-error.ts";
import {
  type AuthorizationEngine,
  type BulkCheckItem,
  type CallOptions,
  type Change,
  type CheckAnyRequest,
  type CheckRequest,
  type CheckResult,
  type ExplainResult,
  type FoundSubject,
  type LookupResourcesRequest,
  type LookupSubjectsRequest,
  MAX_BULK_CHECKS,
  type Page,
  type PageRequest,
  type Readiness,
  type Revision,
  type WriteRequest,
} from "../engine.ts";
import type { ObjectIdRule } from "../object-id.ts";
import type { Relationship, RelationshipFilter } from "../relationship.ts";
import type { RelationshipStore } from "../relationship-store.ts";
import { formatRelationship, invalid, RequestValidator } from "../validate-request.ts";
import { abortError } from "./abort-error.ts";
import { Checker } from "./checker.ts";
import { Checks } from "./checks.ts";
import { compileProgram } from "./compile-program.ts";
import { Explainer } from "./explainer.ts";
import { FailureListeners } from "./failure-listeners.ts";
import { HeadRevision } from "./head-revision.ts";
import { listRelationships } from "./list-relationships.ts";
import { Listings, MAX_RESULTS } from "./listings.ts";
import { loadGraph } from "./load-graph.ts";
import { paced, type Steps } from "./paced.ts";
import type { RelationshipGraph } from "./relationship-graph.ts";
import { ResourceFinder } from "./resource-finder.ts";
import { formatRevision } from "./revision-token.ts";
import { SubjectFinder } from "./subject-finder.ts";
import { Watcher } from "./watcher.ts";
import { Writer } from "./writer.ts";

/** What an embedded engine is made of. */
export interface EmbeddedEngineOptions {
  /** A model without errors, caveats and expirations. */
  readonly model: Model;
  /** The file that the model is from, for messages. */
  readonly modelFile?: string | undefined;
  /** Where the relationships are kept; the engine closes it. */
  readonly store: RelationshipStore;
  /** Which object ids there may be; `OBJECT_IDS` where absent. */
  readonly objectIds?: ObjectIdRule;
  /** The most results of a listing, over all of its pages; `MAX_RESULTS` where absent. */
  readonly maxResults?: number;
}

/**
 * An engine in this process: all relationships in memory, over a store that
 * keeps them. It always reads at head. Where it is refused, the store is closed.
 *
 * @throws AuthzError UNIMPLEMENTED for a model with caveats or expirations; FAILED_PRECONDITION
 * where the store holds relationships that the model does not allow
 */
export async function createEmbeddedEngine(
  options: EmbeddedEngineOptions,
): Promise<AuthorizationEngine> {
  const { model, modelFile, store, objectIds, maxResults = MAX_RESULTS } = options;
  try {
    const validator = new RequestValidator(model, objectIds);
    const graph = await loadGraph(compileProgram(model), store, validator, modelFile);
    return new EmbeddedEngine(model, store, validator, graph, maxResults);
  } catch (error) {
    // Else this process would hold the store, and nobody could close it. Why it was refused is what counts.
    await store.close().catch(() => undefined);
    throw error;
  }
}

class EmbeddedEngine implements AuthorizationEngine {
  readonly kind = "embedded";
  readonly #store: RelationshipStore;
  readonly #validator: RequestValidator;
  readonly #graph: RelationshipGraph;
  readonly #checks: Checks;
  readonly #explainer: Explainer;
  readonly #resources: ResourceFinder;
  readonly #subjects: SubjectFinder;
  readonly #listings = new Listings();
  readonly #maxResults: number;
  readonly #watcher: Watcher;
  readonly #writer: Writer;
  readonly #head: HeadRevision;
  #closing: Promise<void> | undefined;
  readonly #failures = new FailureListeners();
  readonly onFailure = this.#failures.add;

  constructor(
    model: Model,
    store: RelationshipStore,
    validator: RequestValidator,
    graph: RelationshipGraph,
    maxResults: number,
  ) {
    this.#maxResults = maxResults;
    this.#store = store;
    this.#validator = validator;
    this.#graph = graph;
    const checker = new Checker(graph);
    this.#checks = new Checks(graph, checker, validator);
    this.#explainer = new Explainer(model, graph, checker);
    this.#resources = new ResourceFinder(graph, checker, maxResults);
    this.#subjects = new SubjectFinder(graph, checker, maxResults);
    this.#watcher = new Watcher(store, () => this.#writer.sequence);
    this.#failures.add((error) => this.#watcher.fail(error));
    this.#writer = new Writer(
      graph,
      store,
      () => this.#watcher.notify(),
      (error) => this.#failures.tell(error),
    );
    this.#head = new HeadRevision(store.id, this.#writer);
  }

  async check(request: CheckRequest, options?: CallOptions): Promise<CheckResult> {
    this.#begin(options);
    return this.checkNow(request);
  }

  checkNow(request: CheckRequest): CheckResult {
    this.#begin(undefined);
    return { allowed: this.#checks.one(request), revision: this.#head.revision() };
  }

  async checkBulk(
    requests: readonly CheckRequest[],
    options?: CallOptions,
  ): Promise<{ items: readonly BulkCheckItem[]; revision: Revision }> {
    this.#begin(options);
    if (requests.length > MAX_BULK_CHECKS) {
      throw invalid(`a bulk check has at most ${MAX_BULK_CHECKS} checks, not ${requests.length}`);
    }
    const { result: items, revision } = await this.#atHead(
      () => this.#checks.all(requests),
      options,
    );
    return { items, revision };
  }

  async checkAny(request: CheckAnyRequest, options?: CallOptions): Promise<CheckResult> {
    this.#begin(options);
    this.#validator.checkAny(request);
    const { result: allowed, revision } = await this.#atHead(
      () => this.#resources.any(request),
      options,
    );
    return { allowed, revision };
  }

  async explain(request: CheckRequest, options?: CallOptions): Promise<ExplainResult> {
    this.#begin(options);
    this.#validator.check(request);
    const explanation = this.#explainer.explain(request);
    return { allowed: explanation.allowed, explanation, revision: this.#head.revision() };
  }

  async writeRelationships(
    request: WriteRequest,
    options?: CallOptions,
  ): Promise<{ revision: Revision }> {
    this.#begin(options);
    this.#validator.write(request);
    const sequence = await this.#writer.write(request, options?.signal);
    return { revision: formatRevision(this.#store.id, sequence) };
  }

  async readRelationships(
    filter: RelationshipFilter,
    page: PageRequest = {},
    options?: CallOptions,
  ): Promise<Page<Relationship>> {
    this.#begin(options);
    this.#validator.filter(filter);
    const { resourceType, resourceId, relation, subject } = filter;
    const of = [resourceType, resourceId, relation, subject?.type, subject?.id, subject?.relation];
    // Text that stays as it is: the object that was asked with may change before the next page.
    const listing = ["relationships", ...of.map((part) => part ?? null)];
    const all = () => listRelationships(this.#graph, filter, this.#maxResults);
    return this.#paced(
      () => this.#listings.page(listing, page, this.#state(), all, formatRelationship),
      options,
    );
  }

  async lookupResources(
    request: LookupResourcesRequest,
    options?: CallOptions,
  ): Promise<Page<string>> {
    this.#begin(options);
    this.#validator.checkAny(request);
    const { resourceType, permission, subject } = request;
    const { type, id, relation = null } = subject;
    const listing = ["resources", resourceType, permission, type, id, relation];
    const all = () => this.#resources.find(request);
    return this.#paced(
      () => this.#listings.page(listing, request, this.#state(), all, (id) => id),
      options,
    );
  }

  async lookupSubjects(
    request: LookupSubjectsRequest,
    options?: CallOptions,
  ): Promise<Page<FoundSubject>> {
    this.#begin(options);
    this.#validator.lookupSubjects(request);
    const { resource, permission, subjectType, subjectRelation = null } = request;
    const listing = [
      "subjects",
      resource.type,
      resource.id,
      permission,
      subjectType,
      subjectRelation,
    ];
    const all = () => this.#subjects.find(request);
    return this.#paced(
      () => this.#listings.page(listing, request, this.#state(), all, ({ id }) => id),
      options,
    );
  }

  watch(from?: Revision, options?: CallOptions): AsyncIterable<Change> {
    // The head is that of the call, not of the first step.
    return this.#watch(this.#writer.sequence, from, options);
  }

  async *#watch(head: number, from?: Revision, options?: CallOptions): AsyncGenerator<Change> {
    this.#begin(options);
    const sequence = from === undefined ? head : this.#head.parse(from);
    for await (const change of this.#watcher.follow(sequence, options?.signal)) {
      const { updates } = change;
      yield { revision: formatRevision(this.#store.id, change.sequence), updates };
    }
  }

  async ready(): Promise<Readiness> {
    if (this.#closing !== undefined) return { ready: false, reason: "the engine is closed" };
    try {
      if (this.#writer.isUncertain) await this.#writer.settle();
    } catch (error) {
      return { ready: false, reason: (error as Error).message };
    }
    const reason = this.#writer.failure?.message ?? this.#store.problem?.();
    return reason === undefined ? { ready: true } : { ready: false, reason };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watcher.close();
    // Behind the writes that were begun.
    await this.#writer.settle().catch(() => {});
    await this.#store.close();
  }

  /** What every call begins with: whether it may be answered at all. */
  #begin(options: CallOptions | undefined): void {
    if (this.#closing !== undefined) throw new AuthzError("UNAVAILABLE", "the engine is closed");
    if (this.#writer.failure !== undefined) throw this.#writer.failure;
    if (options?.signal?.aborted) throw abortError(options.signal);
    if (options?.atLeastAsFresh !== undefined) this.#head.parse(options.atLeastAsFresh);
  }

  /** Does what may take long in turns. */
  #paced<Result>(work: () => Steps<Result>, options: CallOptions | undefined): Promise<Result> {
    return paced(() => this.#graph.version, work, options?.signal);
  }

  /** The same, with the state that it was done at. */
  #atHead<Result>(
    work: () => Steps<Result>,
    options: CallOptions | undefined,
  ): Promise<{ readonly result: Result; readonly revision: Revision }> {
    const revision = () => this.#head.revision();
    return this.#paced(function* () {
      return { result: yield* work(), revision: revision() };
    }, options);
  }

  #state() {
    return {
      storeId: this.#store.id,
      sequence: this.#writer.sequence,
      revision: this.#head.revision(),
    };
  }
}
