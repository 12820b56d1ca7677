import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OrganizationSchema } from "../../gen/svc/iam/v1/directory_pb.ts";
import type { OrganizationRecord } from "./organization-records.ts";

/** An organization as callers see it. */
export function organizationMessage(
  record: OrganizationRecord,
): MessageInitShape<typeof OrganizationSchema> {
  const { id, displayName, websiteUrl, etag, createTime, updateTime } = record;
  return {
    id,
    displayName,
    websiteUrl,
    etag,
    createTime: timestampFromMs(createTime),
    updateTime: timestampFromMs(updateTime),
  };
}
