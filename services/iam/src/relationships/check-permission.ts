import type { CheckRequest, SubjectReference } from "svc-access/authz";
import { type CallContext, requirePrincipal } from "svc-access/runtime";
import type {
  ObjectReference as SentObject,
  SubjectReference as SentSubject,
} from "../../gen/svc/iam/v1/relationship_pb.ts";
import { toObject, toSubject } from "../rpc/relationship-messages.ts";
import type { Visibility } from "./visibility.ts";

/** What is asked, as a request has it. */
export interface SentCheck {
  readonly subject?: SentSubject | undefined;
  readonly resource?: SentObject | undefined;
  readonly permission: string;
}

/**
 * What a caller asks, if it may: about itself always, about others where it may see the relationships of the
 * resource.
 *
 * @throws ServiceError FORBIDDEN or INVALID_ARGUMENT
 */
export async function checkOf(
  { subject, resource, permission }: SentCheck,
  visibility: Visibility,
  context: CallContext,
): Promise<CheckRequest> {
  const { subjectType, subjectId } = requirePrincipal(context);
  const object = toObject(resource, "resource");
  const self: SubjectReference = { type: subjectType, id: subjectId };
  const asked = subject === undefined ? self : toSubject(subject, "subject");
  const isSelf = asked.type === self.type && asked.id === self.id && asked.relation === undefined;
  if (!isSelf) await visibility.assertMaySee([object]);
  return { resource: object, permission, subject: asked };
}
