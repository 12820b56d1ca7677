import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CheckRequest,
  Explanation,
  ObjectReference,
  SubjectReference,
} from "svc-access/authz";
import { type CallContext, requirePrincipal } from "svc-access/runtime";
import type { ExplanationStepSchema } from "../../../gen/svc/iam/v1/administration_pb.ts";
import type {
  ObjectReference as SentObject,
  SubjectReference as SentSubject,
} from "../../../gen/svc/iam/v1/relationship_pb.ts";
import {
  relationshipMessage,
  toObject,
  toSubject,
} from "../../ground/rpc/relationship-messages.ts";
import { objectText } from "../../rights/relationships.ts";
import type { RightsModel } from "../../rights/rights-model.ts";
import { notShown, type Visibility } from "./visibility.ts";

type Step = MessageInitShape<typeof ExplanationStepSchema>;

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
  { model, visibility }: { readonly model: RightsModel; readonly visibility: Visibility },
  context: CallContext,
): Promise<CheckRequest> {
  const { subjectType, subjectId } = requirePrincipal(context);
  const object = toObject(resource, "resource");
  const self: SubjectReference = { type: subjectType, id: subjectId };
  const asked = subject === undefined ? self : toSubject(subject, "subject");
  const isSelf = asked.type === self.type && asked.id === self.id && asked.relation === undefined;
  if (!isSelf) await visibility.assertMaySee([object]);
  // The engine refuses the rest, and knows less to say about these.
  model.assertMember(object.type, permission);
  if (!isSelf) model.assertRelation(asked.type, undefined);
  return { resource: object, permission, subject: asked };
}

/**
 * The steps of a decision as a list: nested messages would be as deep as the groups are. What is below an object
 * whose relationships the caller may not see is left out.
 */
export async function explanationSteps(
  root: Explanation,
  visibility: Visibility,
): Promise<readonly Step[]> {
  const hidden = new Set((await visibility.hidden(objectsOf(root))).map(objectText));
  const steps: Step[] = [];
  const left = [{ step: root, parent: 0 }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { step, parent } = next;
    const { resource, permission, allowed, kind, relationship, children } = step;
    const index = steps.length;
    const { type, id } = resource;
    const common = { parent, resource: { type, id }, permission, allowed };
    if (hidden.has(objectText(resource))) {
      steps.push({ ...common, notShown: notShown(resource) });
      continue;
    }
    const decided =
      relationship === undefined ? {} : { relationship: relationshipMessage(relationship) };
    steps.push({ ...common, kind, ...decided });
    // The last one first, since the list is taken from its end.
    for (const child of children.toReversed()) left.push({ step: child, parent: index });
  }
  return steps;
}

function objectsOf(root: Explanation): readonly ObjectReference[] {
  const objects = new Map<string, ObjectReference>();
  const left = [root];
  for (let step = left.pop(); step !== undefined; step = left.pop()) {
    objects.set(objectText(step.resource), step.resource);
    left.push(...step.children);
  }
  return [...objects.values()];
}
