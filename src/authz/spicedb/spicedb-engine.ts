import type { Model } from "../../model/index.ts";
import type { RelationshipFilter } from "../../model/relationship.ts";
import type { AuthorizationEngine } from "../engine/engine.ts";
import type {
  CallOptions,
  CheckAnyRequest,
  CheckRequest,
  LookupResourcesRequest,
  LookupSubjectsRequest,
  PageRequest,
  Revision,
  WriteRequest,
} from "../engine/requests.ts";
import { RequestValidator } from "../engine/validate-request.ts";
import { check, checkBulk } from "./check/checks.ts";
import { explain } from "./check/explain.ts";
import type { ConnectionOptions } from "./client/channel.ts";
import { Connection } from "./client/connection.ts";
import { Freshness } from "./client/freshness.ts";
import { newestOf, type SpicedbSession } from "./client/session.ts";
import { zedTokenOf } from "./client/tokens.ts";
import { checkAny } from "./lookup/find-resources.ts";
import { ListingCache, lookupResources, lookupSubjects } from "./lookup/lookups.ts";
import { readRelationships } from "./lookup/read-relationships.ts";
import { refuseSubtractedParentheses } from "./workarounds/subtracted-parentheses.ts";
import {
  type SchemaWrite,
  type SchemaWriteOptions,
  schemaReadiness,
  writeSchema,
} from "./write/schema.ts";
import { watch } from "./write/watch.ts";
import { writeRelationships } from "./write/writes.ts";

/** Which SpiceDB, and with which model. */
export interface SpicedbEngineOptions extends ConnectionOptions {
  /** The model that requests are checked against; SpiceDB must have its schema. */
  readonly model: Model;
}

/** An engine that asks a SpiceDB. */
export interface SpicedbEngine extends AuthorizationEngine {
  /** Which engine it is. */
  readonly kind: "spicedb";
  /**
   * Writes the schema, unless SpiceDB has one of the same meaning.
   *
   * @param schema the text of the model
   * @throws AuthzError INVALID_ARGUMENT if the text is not a model, or SpiceDB would decide it
   * incorrectly; FAILED_PRECONDITION if stored relationships block the change, or with
   * `replace: false` if SpiceDB has a schema that lacks a part of it
   */
  writeSchema(schema: string, options?: SchemaWriteOptions): Promise<SchemaWrite>;
}

/**
 * An engine over a SpiceDB of its own. It connects on the first call: while SpiceDB is down, each
 * call is UNAVAILABLE.
 *
 * @throws AuthzError INVALID_ARGUMENT if the model subtracts parentheses, which SpiceDB misreads
 */
export async function createSpicedbEngine(options: SpicedbEngineOptions): Promise<SpicedbEngine> {
  const { model } = options;
  refuseSubtractedParentheses(model);
  const connection = new Connection(options);
  const session: SpicedbSession = {
    model,
    validator: new RequestValidator(model),
    connection,
    // Shared by callers, so no single caller can stop it.
    freshness: new Freshness(() =>
      connection.run({}, ({ signal }) => newestOf({ connection }, signal)),
    ),
  };
  const cache = new ListingCache();
  const run = <Result>(
    call: CallOptions | undefined,
    work: (call: CallOptions) => Promise<Result>,
  ): Promise<Result> =>
    connection.run(call, async (call) => {
      // Also if a cursor determines the state, and if the request is refused.
      if (call.atLeastAsFresh !== undefined) zedTokenOf(call.atLeastAsFresh);
      return work(call);
    });
  return {
    kind: "spicedb",
    model,
    check: (request: CheckRequest, call?: CallOptions) =>
      run(call, (call) => check(session, request, call)),
    checkBulk: (requests: readonly CheckRequest[], call?: CallOptions) =>
      run(call, (call) => checkBulk(session, requests, call)),
    checkAny: (request: CheckAnyRequest, call?: CallOptions) =>
      run(call, (call) => checkAny(session, request, call)),
    explain: (request: CheckRequest, call?: CallOptions) =>
      run(call, (call) => explain(session, request, call)),
    writeRelationships: (request: WriteRequest, call?: CallOptions) =>
      run(call, (call) => writeRelationships(session, request, call)),
    readRelationships: (filter: RelationshipFilter, page?: PageRequest, call?: CallOptions) =>
      run(call, (call) => readRelationships(session, filter, page, call)),
    lookupResources: (request: LookupResourcesRequest, call?: CallOptions) =>
      run(call, (call) => lookupResources(session, cache, request, call)),
    lookupSubjects: (request: LookupSubjectsRequest, call?: CallOptions) =>
      run(call, (call) => lookupSubjects(session, cache, request, call)),
    watch: (from?: Revision, call?: CallOptions) => watch(session, from, call),
    ready: (call?: CallOptions) => schemaReadiness(connection, model, call),
    writeSchema: (schema: string, options?: SchemaWriteOptions) =>
      run(options, (call) => writeSchema(session, schema, { ...options, ...call })),
    close: async () => connection.close(),
  };
}
