import * as z from "zod";
import { avatarUrlProblem } from "../../people/accounts/account-texts.ts";
import type { DirectoryGroup, DirectoryOrganization, DirectoryUser } from "../directory.ts";

const MOST_GROUPS = 1000;
const CONTROL = /[\p{Cc}\p{Cs}]/u;

/** A part of an id `owner/name`. */
const name = z
  .string()
  .min(1)
  .max(255)
  .refine((text) => !CONTROL.test(text) && !text.includes("/"), "is not a name");

/** The subject of tokens: an object id in ASCII. */
const subject = z.string().regex(/^[!-"$-)+-~]{1,256}$/, "is not a subject");

/** Text that is only displayed; people choose it themselves. */
const display = z
  .string()
  .max(4096)
  .nullish()
  .transform((text) => (text ?? "").slice(0, 1024).replaceAll(/[\p{Cc}\p{Cs}]/gu, " "));

/** RFC 3339; empty where Casdoor has none. */
const time = z
  .string()
  .max(64)
  .nullish()
  .transform((text, context) => {
    if (text === "" || text == null) return undefined;
    const milliseconds = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
    if (Number.isFinite(milliseconds)) return milliseconds;
    context.addIssue({ code: "custom", message: "is not a time" });
    return z.NEVER;
  });

const user = z.object({
  owner: name,
  name,
  id: subject,
  displayName: display,
  email: display,
  avatar: z.string().nullish(),
  groups: z.array(z.string().min(1).max(512)).max(MOST_GROUPS).nullish(),
  isForbidden: z.boolean(),
  isDeleted: z.boolean(),
  createdTime: time,
  updatedTime: time,
});

const group = z.object({
  owner: name,
  name,
  displayName: display,
  parentId: z.string().max(512).nullish(),
  isTopGroup: z.boolean().nullish(),
  createdTime: time,
  updatedTime: time,
});

const organization = z.object({
  name,
  displayName: display,
  websiteUrl: display,
  createdTime: time,
});

/** A user, and whether it is marked deleted. */
export interface CasdoorUserRecord {
  readonly user: DirectoryUser;
  readonly isDeleted: boolean;
}

/** What is not of the organization that was asked for. */
const OTHER_OWNER = "is of another organization";

/** The schema of a user of an organization. */
export function userOf(owner: string) {
  return user.transform((record, context): CasdoorUserRecord => {
    const groupIds = (record.groups ?? []).map((one) => idIn(owner, one));
    if (record.owner !== owner || groupIds.includes(undefined)) {
      context.addIssue({ code: "custom", message: OTHER_OWNER });
      return z.NEVER;
    }
    const avatar = record.avatar ?? "";
    return {
      user: {
        id: record.id,
        username: record.name,
        displayName: record.displayName,
        email: record.email,
        organizationId: owner,
        groupIds: groupIds as string[],
        avatarUrl: avatarUrlProblem(avatar) === undefined ? avatar : "",
        disabled: record.isForbidden,
        createTime: record.createdTime,
        updateTime: record.updatedTime,
      },
      isDeleted: record.isDeleted,
    };
  });
}

/** The schema of a group of an organization. */
export function groupOf(owner: string) {
  return group.transform((record, context): DirectoryGroup => {
    const { parentId, isTopGroup } = record;
    // The parent of a group at the top is the organization.
    const isTop = isTopGroup === true || parentId == null || parentId === "" || parentId === owner;
    const parent = isTop ? "" : idIn(owner, parentId);
    if (record.owner !== owner || parent === undefined) {
      context.addIssue({ code: "custom", message: OTHER_OWNER });
      return z.NEVER;
    }
    return {
      id: `${owner}/${record.name}`,
      organizationId: owner,
      parentId: parent,
      displayName: record.displayName,
      createTime: record.createdTime,
      updateTime: record.updatedTime,
    };
  });
}

/** The schema of an organization. */
export function organizationOf(id: string) {
  return organization.transform((record, context): DirectoryOrganization => {
    if (record.name !== id) {
      context.addIssue({ code: "custom", message: "is another organization" });
      return z.NEVER;
    }
    const { displayName, websiteUrl, createdTime } = record;
    return { id, displayName, websiteUrl, createTime: createdTime, updateTime: undefined };
  });
}

/** The id `owner/name` of a group that is named in full or by its name; undefined if of another owner. */
function idIn(owner: string, text: string): string | undefined {
  const [first = "", second, ...rest] = text.split("/");
  const [of, named] = second === undefined ? [owner, first] : [first, second];
  return of === owner && rest.length === 0 && name.safeParse(named).success
    ? `${owner}/${named}`
    : undefined;
}
