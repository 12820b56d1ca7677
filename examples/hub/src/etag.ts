import { createHash } from "node:crypto";
import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { ServiceError } from "svc-access/runtime";

/** A text that changes with each change of a message. */
export function etagOf<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
): string {
  return createHash("sha256").update(toBinary(schema, message)).digest("base64url").slice(0, 16);
}

/** Refuses a change of an object that was changed in the meantime; an empty etag is not checked. */
export function requireEtag(sent: string, current: string, what: string): void {
  if (sent !== "" && sent !== current) {
    throw new ServiceError(
      "FAILED_PRECONDITION",
      `${what} was changed in the meantime: read it again`,
    );
  }
}
