import type { AuthorizationEngine, CheckRequest, CheckResult } from "svc-access/authz";
import type { CallContext } from "svc-access/runtime";
import type { IAMPermissionServiceHandlers } from "../../../gen/svc/iam/v1/permission_server.ts";
import type { ObjectReference, SubjectReference } from "../../../gen/svc/iam/v1/relationship_pb.ts";
import {
  assertAtMost,
  toCallOptions,
  toObject,
  toPage,
  toSubject,
} from "../../ground/rpc/relationship-messages.ts";
import { CheckAnswers } from "./check-answers.ts";
import { askEngine, askEngineNow, checkErrorMessage } from "./engine-refusal.ts";
import type { ServiceRights } from "./service-rights.ts";
import { stepMessages } from "./step-messages.ts";

/** What the handlers need. */
export interface CheckHandlersOptions {
  readonly engine: AuthorizationEngine;
  readonly rights: ServiceRights;
}

/** The RPCs that decide. */
type CheckHandlers = Pick<
  IAMPermissionServiceHandlers,
  | "checkPermission"
  | "checkBulkPermissions"
  | "checkAnyPermission"
  | "explainPermission"
  | "lookupResources"
  | "lookupSubjects"
>;

/** The most checks of one call; a message of more would have too many elements. */
const MAX_CHECKS = 2000;

/** A check as requests have it. */
interface PermissionCheck {
  readonly resource?: ObjectReference | undefined;
  readonly permission: string;
  readonly subject?: SubjectReference | undefined;
}

/** The handlers of checks and lookups, each of a type that its service may read. */
export function checkHandlers({ engine, rights }: CheckHandlersOptions): CheckHandlers {
  const readable = (sent: PermissionCheck, call: CallContext): CheckRequest => {
    const request = toCheck(sent);
    rights.assertMayRead(request.resource.type, call);
    return request;
  };

  const answers = new CheckAnswers();

  return {
    async checkPermission(sent, call) {
      const request = readable(sent, call);
      if (engine.checkNow !== undefined && sent.consistency === undefined) {
        // At once: the signal of a call is only made when it is read, and nothing waits for a promise.
        return answers.of(askEngineNow(() => engine.checkNow?.(request) as CheckResult));
      }
      const options = toCallOptions(sent.consistency, call);
      return askEngine(() => engine.check(request, options));
    },

    async checkBulkPermissions({ checks, consistency }, call) {
      rights.assertKnown(call);
      assertAtMost("checks", checks.length, MAX_CHECKS);
      const requests = checks.map((sent) => readable(sent, call));
      const options = toCallOptions(consistency, call);
      const { items, revision } = await askEngine(() => engine.checkBulk(requests, options));
      return {
        revision,
        results: items.map(({ allowed, error }) => ({
          result:
            error === undefined
              ? { case: "allowed" as const, value: allowed }
              : { case: "error" as const, value: checkErrorMessage(error) },
        })),
      };
    },

    async checkAnyPermission({ resourceType, permission, subject, consistency }, call) {
      rights.assertMayRead(resourceType, call);
      const request = { resourceType, permission, subject: toSubject(subject, "subject") };
      return askEngine(() => engine.checkAny(request, toCallOptions(consistency, call)));
    },

    async explainPermission(sent, call) {
      const request = readable(sent, call);
      const options = toCallOptions(sent.consistency, call);
      const { allowed, revision, explanation } = await askEngine(() =>
        engine.explain(request, options),
      );
      return { allowed, revision, steps: stepMessages(explanation, rights.readTypes(call)) };
    },

    async lookupResources(request, call) {
      const { resourceType, permission, subject, consistency } = request;
      rights.assertMayRead(resourceType, call);
      const lookup = { resourceType, permission, subject: toSubject(subject, "subject") };
      const { items, nextCursor, revision } = await askEngine(() =>
        engine.lookupResources({ ...lookup, ...toPage(request) }, toCallOptions(consistency, call)),
      );
      return { resourceIds: items, nextPageToken: nextCursor ?? "", revision };
    },

    async lookupSubjects(request, call) {
      const { permission, subjectType, subjectRelation, consistency } = request;
      const resource = toObject(request.resource, "resource");
      rights.assertMayRead(resource.type, call);
      const lookup = {
        resource,
        permission,
        subjectType,
        ...(subjectRelation === "" ? {} : { subjectRelation }),
      };
      const { items, nextCursor, revision } = await askEngine(() =>
        engine.lookupSubjects({ ...lookup, ...toPage(request) }, toCallOptions(consistency, call)),
      );
      return {
        subjects: items.map(({ id, excluded }) => ({
          subjectId: id,
          excludedSubjectIds: [...excluded],
        })),
        nextPageToken: nextCursor ?? "",
        revision,
      };
    },
  };
}

function toCheck({ resource, permission, subject }: PermissionCheck): CheckRequest {
  return {
    resource: toObject(resource, "resource"),
    permission,
    subject: toSubject(subject, "subject"),
  };
}
