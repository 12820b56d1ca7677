import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OrganizationSchema } from "../../../gen/svc/iam/v1/directory_pb.ts";
import { ORGANIZATION_ID } from "../../config/iam-config.ts";
import type { OrganizationRecord } from "./organization-records.ts";

const LONGEST_URL = 2048;
const NO_URL = { protocol: "", username: "", password: "" };

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

/** Why a text cannot be the id of an organization, for people; undefined where it can. */
export function organizationIdProblem(id: string): string | undefined {
  if (id === "") return "is required";
  return ORGANIZATION_ID.test(id)
    ? undefined
    : "must be 1 to 64 letters, digits, '.', '_' and '-', and begin with a letter or digit";
}

/** Why a text cannot be the URL of a web site, for people; undefined where it can. Empty: no web site. */
export function websiteUrlProblem(url: string): string | undefined {
  if (url === "") return undefined;
  if (url.length > LONGEST_URL) return `must have at most ${LONGEST_URL} characters`;
  const { protocol, username, password } = URL.canParse(url) ? new URL(url) : NO_URL;
  // Frontends make a link of it, so it must not run anything.
  const isWeb = protocol === "https:" || protocol === "http:";
  return isWeb && username === "" && password === "" && /^[\x21-\x7e]+$/.test(url)
    ? undefined
    : "must be an http or https URL without a user name";
}
