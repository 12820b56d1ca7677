import { type ClientInterceptor, createHttpClient } from "svc-access/runtime";
import { readLogin, type SavedLogin, writeLogin } from "../login/saved-login.ts";
import { CommandError } from "../run/command-error.ts";
import type { Connection } from "./connection.ts";

/** A command waits longer than a service for one answer. */
const TIMEOUT_MS = 30_000;
/** An access token that expires sooner is not used: the call and the clocks take time. */
const MARGIN_MS = 30_000;

/** Opens a connection as the person who logged in. @throws CommandError if nobody did */
export async function connectLoggedIn(): Promise<Connection> {
  const login = readLogin();
  if (login === undefined) {
    throw new CommandError("nobody is logged in: run svc-iam login https://iam.example.com");
  }
  const { server, organizationId } = login;
  return connectionTo({ server, organizationId, before: [bearerOf(login)] });
}

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
  const options = { baseUrl, before, metadata, timeoutMs: TIMEOUT_MS, userAgent: "svc-iam" };
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

/** Sends the access token, which is refreshed before it expires. */
function bearerOf(saved: SavedLogin): ClientInterceptor {
  let login: Promise<SavedLogin> = Promise.resolve(saved);
  return async (call, next) => {
    login = login.then(freshLogin);
    call.headers.set("authorization", `Bearer ${(await login).accessToken}`);
    return next();
  };
}

async function freshLogin(login: SavedLogin): Promise<SavedLogin> {
  if (isFresh(login)) return login;
  // Another command may have refreshed it since, and its refresh token replaces this one.
  const stored = readLogin();
  const newest = stored?.server === login.server ? stored : login;
  if (isFresh(newest)) return newest;
  const { refreshToken } = newest;
  if (refreshToken === undefined) {
    throw new CommandError("the login has ended: run svc-iam login");
  }
  const { refreshLogin } = await import("../login/device-login.ts");
  const refreshed = { ...newest, ...(await refreshLogin(newest, refreshToken)) };
  writeLogin(refreshed);
  return refreshed;
}

function isFresh({ expires }: SavedLogin): boolean {
  return expires - Date.now() > MARGIN_MS;
}
