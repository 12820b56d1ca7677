import { randomUUID } from "node:crypto";

/** A user, with the fields of Casdoor that matter here. */
export interface CasdoorUser {
  readonly owner: string;
  readonly name: string;
  readonly id: string;
  readonly displayName: string;
  readonly email: string;
  readonly avatar: string;
  /** `owner/name`. */
  readonly groups: readonly string[];
  readonly isForbidden: boolean;
  readonly isDeleted: boolean;
  readonly createdTime: string;
  readonly updatedTime: string;
}

/** A group; at the top its parent is the organization. */
export interface CasdoorGroup {
  readonly owner: string;
  readonly name: string;
  readonly displayName: string;
  readonly parentId: string;
  readonly isTopGroup: boolean;
  readonly createdTime: string;
  readonly updatedTime: string;
}

/** An organization; its owner is always `admin`. */
export interface CasdoorOrganization {
  readonly owner: string;
  readonly name: string;
  readonly displayName: string;
  readonly websiteUrl: string;
  readonly createdTime: string;
}

const CREATED = "2024-05-06T07:08:09+08:00";

export function casdoorUser(name: string, more: Partial<CasdoorUser> = {}): CasdoorUser {
  return {
    owner: "acme",
    name,
    id: randomUUID(),
    displayName: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
    email: `${name}@example.com`,
    avatar: "",
    groups: [],
    isForbidden: false,
    isDeleted: false,
    createdTime: CREATED,
    updatedTime: "",
    ...more,
  };
}

export function casdoorGroup(name: string, more: Partial<CasdoorGroup> = {}): CasdoorGroup {
  const { owner = "acme" } = more;
  return {
    owner,
    name,
    displayName: name,
    parentId: owner,
    isTopGroup: more.parentId === undefined,
    createdTime: CREATED,
    updatedTime: "",
    ...more,
  };
}

export function casdoorOrganization(name: string): CasdoorOrganization {
  const websiteUrl = `https://${name}.example.com`;
  return { owner: "admin", name, displayName: name, websiteUrl, createdTime: CREATED };
}
