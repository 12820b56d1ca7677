import type { Model } from "../../model/index.ts";
import type { RelationshipFilter } from "../../model/relationship.ts";
import type { AskedServer } from "../engine/asked-server.ts";
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
import { check, checkBulk, explain, given } from "./checks.ts";
import { lookupResources, lookupSubjects, readRelationships } from "./listings.ts";
import { toAny, toPrecondition, toUpdate } from "./messages.ts";
import { ModelReadiness } from "./model-readiness.ts";
import type { PermissionCalls } from "./permission-calls.ts";
import { IamSession } from "./session.ts";
import { watch } from "./watch.ts";

/** How IAM is asked, and with which model. */
export interface IamEngineOptions {
  /** The model that requests are checked against; that of IAM must contain it. */
  readonly model: Model;
  /** Makes the calls; the engine closes it. */
  readonly calls: PermissionCalls;
  /** Whom the calls reach, for messages. */
  readonly server: AskedServer;
}

/**
 * An engine that asks the IAM service of the platform: no decision is kept. It connects on the first
 * call: while IAM is down, each call is UNAVAILABLE.
 */
export function createIamEngine({ model, calls, server }: IamEngineOptions): AuthorizationEngine {
  const session = new IamSession(model, calls, server);
  const readiness = new ModelReadiness(session);
  return {
    kind: "iam",
    model,
    check: (request: CheckRequest, call?: CallOptions) =>
      session.run(call, (call) => check(session, request, call)),
    checkBulk: (requests: readonly CheckRequest[], call?: CallOptions) =>
      session.run(call, (call) => checkBulk(session, requests, call)),
    checkAny: (request: CheckAnyRequest, call?: CallOptions) =>
      session.run(call, async (call) => {
        session.validator.checkAny(request);
        const message = toAny(request);
        const { allowed, revision } = await session.read(call, (consistency, options) =>
          calls.checkAnyPermission({ ...message, ...given(consistency) }, options),
        );
        return { allowed, revision };
      }),
    explain: (request: CheckRequest, call?: CallOptions) =>
      session.run(call, (call) => explain(session, request, call)),
    writeRelationships: (request: WriteRequest, call?: CallOptions) =>
      session.run(call, async (call) => {
        session.validator.write(request);
        const updates = request.updates.map(toUpdate);
        const preconditions = (request.preconditions ?? []).map(toPrecondition);
        const wrote = session.known.write();
        let revision: Revision | undefined;
        try {
          ({ revision } = await session.ask(call, (options) =>
            calls.writeRelationships({ updates, preconditions }, options),
          ));
          return { revision };
        } finally {
          wrote(revision);
        }
      }),
    readRelationships: (filter: RelationshipFilter, page: PageRequest = {}, call?: CallOptions) =>
      session.run(call, (call) => readRelationships(session, filter, page, call)),
    lookupResources: (request: LookupResourcesRequest, call?: CallOptions) =>
      session.run(call, (call) => lookupResources(session, request, call)),
    lookupSubjects: (request: LookupSubjectsRequest, call?: CallOptions) =>
      session.run(call, (call) => lookupSubjects(session, request, call)),
    watch: (from?: Revision, call?: CallOptions) => watch(session, from, call),
    ready: (call?: CallOptions) => readiness.ready(call),
    async close() {
      session.running.close();
      await calls.close();
    },
  };
}
