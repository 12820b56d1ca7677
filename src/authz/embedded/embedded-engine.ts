import type { Model } from "../../model/index.ts";
import type { Relationship, RelationshipFilter } from "../../model/relationship.ts";
import { abortError } from "../engine/abort-error.ts";
import { AuthzError } from "../engine/authz-error.ts";
import type { AuthorizationEngine, Readiness, StoreConnections } from "../engine/engine.ts";
import type { RelationshipStore } from "../engine/relationship-store.ts";
import {
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
  type Revision,
  type WriteRequest,
} from "../engine/requests.ts";
import { invalid, type RequestValidator } from "../engine/validate-request.ts";
import { Checker } from "./check/checker.ts";
import { Checks } from "./check/checks.ts";
import { Explainer } from "./check/explainer.ts";
import type { RelationshipGraph } from "./graph/relationship-graph.ts";
import { atOnce, inTurns, type Steps } from "./graph/turns.ts";
import { Lookups } from "./lookup/lookups.ts";
import { formatRevision, HeadRevision } from "./write/revision.ts";
import { Watcher } from "./write/watcher.ts";
import { Writer } from "./write/writer.ts";

/** An engine over a graph that was loaded from its store. */
export class EmbeddedEngine implements AuthorizationEngine {
  readonly kind = "embedded";
  readonly model: Model;
  readonly #store: RelationshipStore;
  readonly #validator: RequestValidator;
  readonly #graph: RelationshipGraph;
  readonly #checks: Checks;
  readonly #explainer: Explainer;
  readonly #lookups: Lookups;
  readonly #watcher: Watcher;
  readonly #writer: Writer;
  readonly #head: HeadRevision;
  #closing: Promise<void> | undefined;
  readonly #failureListeners: ((error: AuthzError) => void)[] = [];
  /** Bound, because the server also calls it on an engine that is wrapped. */
  readonly onFailure = (listener: (error: AuthzError) => void): void => {
    this.#failureListeners.push(listener);
  };
  /** Bound for the same reason. */
  readonly connections = (): StoreConnections | undefined => this.#store.connections?.();

  constructor(
    model: Model,
    store: RelationshipStore,
    validator: RequestValidator,
    graph: RelationshipGraph,
    maxResults: number,
  ) {
    this.#store = store;
    this.#validator = validator;
    this.#graph = graph;
    const checker = new Checker(graph);
    this.#checks = new Checks(graph, checker, validator);
    this.model = model;
    this.#explainer = new Explainer(model, graph, checker);
    this.#lookups = new Lookups(graph, checker, maxResults, () => ({
      storeId: store.id,
      sequence: this.#writer.sequence,
      revision: this.#head.revision(),
    }));
    this.#watcher = new Watcher(store, () => this.#writer.sequence);
    this.onFailure((error) => this.#watcher.fail(error));
    this.#writer = new Writer(
      graph,
      store,
      () => this.#watcher.notify(),
      (error) => {
        for (const listener of this.#failureListeners) listener(error);
      },
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

  headNow(): Revision {
    this.#begin(undefined);
    return this.#head.revision();
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
      () => this.#lookups.anyResource(request),
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
    return this.#inTurns(this.#lookups.relationships(filter, page), options);
  }

  readRelationshipsNow(
    filter: RelationshipFilter,
    page: PageRequest = {},
  ): Page<Relationship> | undefined {
    this.#begin(undefined);
    this.#validator.filter(filter);
    return (
      this.#lookups.fewRelationships(filter, page) ??
      atOnce(this.#lookups.relationships(filter, page))
    );
  }

  async lookupResources(
    request: LookupResourcesRequest,
    options?: CallOptions,
  ): Promise<Page<string>> {
    this.#begin(options);
    this.#validator.checkAny(request);
    return this.#inTurns(this.#lookups.resources(request), options);
  }

  async lookupSubjects(
    request: LookupSubjectsRequest,
    options?: CallOptions,
  ): Promise<Page<FoundSubject>> {
    this.#begin(options);
    this.#validator.lookupSubjects(request);
    return this.#inTurns(this.#lookups.subjects(request), options);
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
    // After the writes that have begun.
    await this.#writer.settle().catch(() => {});
    await this.#store.close();
  }

  /** The first step of every call: whether the engine can answer at all. */
  #begin(options: CallOptions | undefined): void {
    if (this.#closing !== undefined) throw new AuthzError("UNAVAILABLE", "the engine is closed");
    if (this.#writer.failure !== undefined) throw this.#writer.failure;
    if (options?.signal?.aborted) throw abortError(options.signal);
    if (options?.atLeastAsFresh !== undefined) this.#head.parse(options.atLeastAsFresh);
  }

  /** Runs long work in turns. */
  #inTurns<Result>(work: () => Steps<Result>, options: CallOptions | undefined): Promise<Result> {
    return inTurns(() => this.#graph.version, work, options?.signal);
  }

  /** The same, with the state that the result is of. */
  #atHead<Result>(
    work: () => Steps<Result>,
    options: CallOptions | undefined,
  ): Promise<{ readonly result: Result; readonly revision: Revision }> {
    const revision = () => this.#head.revision();
    return this.#inTurns(function* () {
      return { result: yield* work(), revision: revision() };
    }, options);
  }
}
