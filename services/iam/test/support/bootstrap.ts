import { expect } from "vitest";
import { makeLink } from "../../src/bootstrap/make-link.ts";
import type { LoadedIamConfig } from "../../src/config/load-iam-config.ts";
import type { IamService } from "./iam-service.ts";

/** What a person enters about the first user. */
export const FIRST: Readonly<Record<string, string>> = {
  username: "root",
  display_name: "Ruth Root",
  email: "ruth@example.com",
  password: "correct horse battery staple",
  repeated: "correct horse battery staple",
};

/** Makes a link as the command does, beside the service. */
export async function linkOf(iam: IamService, zone = "acme") {
  const made = await makeLink(iam.options.configuration as LoadedIamConfig, zone);
  if (made === undefined) return expect.fail(`the zone ${zone} has an owner`);
  const url = new URL(made.url);
  return {
    ...made,
    path: `${url.pathname}${url.search}`,
    token: url.searchParams.get("token") ?? "",
  };
}

/** The response of a page. */
export interface PageResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

let clients = 0;

/** Opens a page of the service, each time from another address: they are limited by address. */
export async function open(
  iam: IamService,
  path: string,
  { headers, ...init }: RequestInit & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<PageResponse> {
  const address = `198.51.${(++clients >> 8) % 256}.${clients % 256}`;
  const response = await fetch(`${iam.origin}${path}`, {
    redirect: "manual",
    ...init,
    headers: { "x-forwarded-for": address, ...headers },
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** Sends the form of the first user. */
export function send(
  iam: IamService,
  fields: Readonly<Record<string, string>> | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<PageResponse> {
  return open(iam, "/v1/iam/ui/bootstrap", {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    body: typeof fields === "string" ? fields : new URLSearchParams(fields).toString(),
  });
}

/** Who owns a zone, as `type:id`. */
export async function ownersOf(iam: IamService, zone = "acme"): Promise<readonly string[]> {
  const filter = { resourceType: "zone", resourceId: zone, relation: "owner" };
  const page = await iam.options.engine?.readRelationships(filter);
  return (page?.items ?? []).map(({ subject }) => `${subject.type}:${subject.id}`);
}
