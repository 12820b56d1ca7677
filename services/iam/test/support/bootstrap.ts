import { expect, onTestFinished, vi } from "vitest";
import { BootstrapLinks } from "../../src/bootstrap/bootstrap-links.ts";
import { makeLink } from "../../src/bootstrap/make-link.ts";
import type { LoadedIamConfig } from "../../src/config/load-iam-config.ts";
import { nextAddress } from "./browser.ts";
import { databaseOf } from "./browser-login.ts";
import { auditEvents, type IamService } from "./iam-service.ts";

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

/** Opens a page of the service, each time from another address: they are limited by address. */
export async function open(
  iam: IamService,
  path: string,
  { headers, ...init }: RequestInit & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<PageResponse> {
  const response = await fetch(`${iam.origin}${path}`, {
    redirect: "manual",
    ...init,
    headers: { "x-forwarded-for": nextAddress(), ...headers },
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** Sends the form of the first user, and opens the page that it leads to. */
export async function send(
  iam: IamService,
  fields: Readonly<Record<string, string>> | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<PageResponse> {
  const sent = await open(iam, "/v1/iam/ui/bootstrap", {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    body: typeof fields === "string" ? fields : new URLSearchParams(fields).toString(),
  });
  return sent.status === 303 ? open(iam, sent.headers.get("location") ?? "") : sent;
}

/** The owners that the audit says links have made, newest first. */
export async function recordedOwners(iam: IamService): Promise<readonly unknown[]> {
  const events = await auditEvents(iam, { type: "bootstrap.used" });
  return events.map(({ data }) => data.details?.["owner"]);
}

/** Lets no audit event be stored meanwhile. */
export async function withoutAudit<T>(iam: IamService, work: () => Promise<T>): Promise<T> {
  const rename = (from: string, to: string) =>
    databaseOf(iam).kysely.schema.alterTable(from).renameTo(to).execute();
  await rename("audit_events", "audit_events_gone");
  try {
    return await work();
  } finally {
    await rename("audit_events_gone", "audit_events");
  }
}

/** Keeps the job of a service from continuing with links until the test ends, or lets it. */
export function holdBootstrapJob(): { release(): void } {
  const begun = vi.spyOn(BootstrapLinks.prototype, "begun").mockResolvedValue([]);
  const release = () => begun.mockRestore();
  onTestFinished(release);
  return { release };
}

/** Runs the job that completes what a process has begun that has ended. */
export async function runBootstrapJob(iam: IamService): Promise<void> {
  const job = iam.options.jobs?.find(({ name }) => name === "bootstrap");
  await job?.run(new AbortController().signal);
}

/** Who owns a zone, as `type:id`. */
export async function ownersOf(iam: IamService, zone = "acme"): Promise<readonly string[]> {
  const filter = { resourceType: "zone", resourceId: zone, relation: "owner" };
  const page = await iam.options.engine?.readRelationships(filter);
  return (page?.items ?? []).map(({ subject }) => `${subject.type}:${subject.id}`);
}
