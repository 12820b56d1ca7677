import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { BoundMethod } from "../binding/bound-method.ts";

/**
 * Whether an RPC may be called by GET with its request in the query, which logs and histories keep
 * (design.md, "Transports"): it changes nothing, has a route of GET, is for everybody, and no
 * field of its request is to be redacted.
 */
export function mayGet({ kind, descriptor, policy, routes }: BoundMethod): boolean {
  return (
    kind === "unary" &&
    descriptor?.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS &&
    routes.some(({ method }) => method === "GET") &&
    policy.exposure !== "INTERNAL" &&
    policy.exposure !== "SYSTEM" &&
    !isRedacted(descriptor.input, new Set())
  );
}

/** Whether a message has a field that is to be redacted, at any depth. */
function isRedacted(message: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some(
    (field: DescField) =>
      field.proto.options?.debugRedact === true ||
      (field.message !== undefined && isRedacted(field.message, seen)),
  );
}
