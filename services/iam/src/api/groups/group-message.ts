import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { GroupSchema } from "../../../gen/svc/iam/v1/directory_pb.ts";
import type { GroupRecord } from "./group-records.ts";

/** A group as callers see it. */
export function groupMessage(
  record: GroupRecord,
  parentId: string | undefined,
): MessageInitShape<typeof GroupSchema> {
  const { id, organizationId, displayName, etag, createTime, updateTime } = record;
  return {
    id,
    organizationId,
    parentId: parentId ?? "",
    displayName,
    etag,
    createTime: timestampFromMs(createTime),
    updateTime: timestampFromMs(updateTime),
  };
}
