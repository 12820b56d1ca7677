import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Explanation, ObjectReference } from "svc-access/authz";
import type { ExplanationStepSchema } from "../../gen/svc/iam/v1/administration_pb.ts";
import { objectText } from "../rights/relationship-text.ts";
import { relationshipMessage } from "../rpc/relationship-messages.ts";
import { notShown, type Visibility } from "./visibility.ts";

type Step = MessageInitShape<typeof ExplanationStepSchema>;

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
