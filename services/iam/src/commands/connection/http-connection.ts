import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { type ClientInterceptor, createHttpClient, ServiceError } from "svc-access/runtime";
import { policy } from "../../../gen/svc/access/v1/policy_pb.ts";
import type { Connection } from "./connection.ts";

/** A command waits longer than a service for one answer. */
const TIMEOUT_MS = 30_000;
/** A page of 1,000 paths through many groups is larger than what a service takes of another one. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** What a service says whose policy refuses a caller, for whatever reason. */
const UNEXPLAINED = "permission denied";

/** Where a connection leads. */
export interface ConnectionPlace {
  /** The origin of the server. */
  readonly server: string;
  readonly organizationId: string;
  /** What identifies the caller. */
  readonly before?: readonly ClientInterceptor[];
  readonly metadata?: Readonly<Record<string, string>>;
  /** Closes what was opened for it, after its clients. */
  readonly close?: () => Promise<void>;
}

/** A connection to a server. */
export function connectionTo({ close, ...place }: ConnectionPlace): Connection {
  const { server: baseUrl, organizationId, before = [], metadata = {} } = place;
  const around = [namingTheRight(organizationId), ...before];
  const options = {
    baseUrl,
    before: around,
    metadata,
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    userAgent: "svc-iam",
  };
  const clients: AsyncDisposable[] = [];
  return {
    organizationId,
    client(service, routes) {
      const client = createHttpClient(service, routes, options);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients.splice(0)) await client[Symbol.asyncDispose]();
      await close?.();
    },
  };
}

/** Says which right is missing where the server does not: the policy of the call names it. */
function namingTheRight(organizationId: string): ClientInterceptor {
  return async ({ method, request }, next) => {
    try {
      return await next();
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: unknown };
      const right = code === "FORBIDDEN" && message === UNEXPLAINED ? rightOf(method) : undefined;
      if (right === undefined) throw error;
      const resource = filled(right.resource, request as Fields, organizationId);
      const told = `${UNEXPLAINED}: this needs ${right.action} on ${resource}`;
      throw new ServiceError("FORBIDDEN", told, { cause: error });
    }
  };
}

type Fields = Readonly<Record<string, unknown>>;

function rightOf(method: DescMethod) {
  const { action = "", resource = "" } = getOption(method, policy).authz ?? {};
  return action === "" || resource === "" ? undefined : { action, resource };
}

/** A template such as `zone:{principal.organization_id}`, with the values of this call. */
function filled(template: string, request: Fields, organizationId: string): string {
  return template.replace(/\{([\w.]+)\}/g, (whole, path: string) => {
    if (path === "principal.organization_id") return organizationId;
    const field = path.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const value = request[field];
    return typeof value === "string" && value !== "" ? value : whole;
  });
}
