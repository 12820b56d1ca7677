import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Explanation } from "svc-access/authz";
import type { PermissionStepSchema } from "../../../gen/svc/iam/v1/permission_pb.ts";
import { relationshipMessage } from "../../ground/rpc/relationship-messages.ts";

type Step = MessageInitShape<typeof PermissionStepSchema>;

/**
 * The steps of a decision as a list, each after the one that it belongs to: nested messages would be
 * as deep as the groups are.
 *
 * @param mayRead whether the caller may read a type; what lies below an object of another one is left out
 */
export function stepMessages(root: Explanation, mayRead: (type: string) => boolean): Step[] {
  const steps: Step[] = [];
  const left: { readonly step: Explanation; readonly parent: number }[] = [
    { step: root, parent: 0 },
  ];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { step, parent } = next;
    const { resource, permission, allowed, kind, relationship, children } = step;
    const index = steps.length;
    const hidden = !mayRead(resource.type);
    steps.push({
      parent,
      resource: { type: resource.type, id: resource.id },
      permission,
      allowed,
      kind,
      hidden,
      ...(hidden || relationship === undefined
        ? {}
        : { relationship: relationshipMessage(relationship) }),
    });
    if (hidden) continue;
    // The last one first, since the list is taken from its end.
    for (const child of children.toReversed()) left.push({ step: child, parent: index });
  }
  return steps;
}
