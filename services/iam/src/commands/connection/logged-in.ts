import type { ClientInterceptor } from "svc-access/runtime";
import { readLogin, type SavedLogin, writeLogin } from "../login/saved-login.ts";
import { CommandError } from "../run/command-error.ts";
import { namingTheServer } from "../run/naming-the-server.ts";
import { say } from "../run/run-command.ts";
import type { Connection } from "./connection.ts";
import { connectionTo } from "./http-connection.ts";

/** An access token that expires sooner is not used: the call and the clocks take time. */
const MARGIN_MS = 30_000;

/** The login of the person. @throws CommandError if nobody has logged in */
export function requireLogin(): SavedLogin {
  const login = readLogin();
  if (login !== undefined) return login;
  throw new CommandError(
    "nobody is logged in: run svc-iam login with the address of the server, such as https://iam.example.com",
  );
}

/** Opens a connection as the person who logged in. @throws CommandError if nobody did */
export async function connectLoggedIn(): Promise<Connection> {
  const login = await withPerson(requireLogin());
  const { server, organizationId } = login;
  const before = [namingTheServer(server), bearerOf(login)];
  return connectionTo({ server, organizationId, before });
}

/** A login whose server had not said whose it is. @throws CommandError if it still does not */
async function withPerson(login: SavedLogin): Promise<SavedLogin> {
  if (login.username !== "") return login;
  const { personOfLogin } = await import("../login/person-of-login.ts");
  const fresh = await freshLogin(login);
  const completed = { ...fresh, ...(await personOfLogin(fresh.server, fresh.accessToken)) };
  store(completed);
  return completed;
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

/** The login with an access token that is valid for some time. @throws CommandError if the login has ended */
export async function freshLogin(login: SavedLogin): Promise<SavedLogin> {
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
  store(refreshed);
  return refreshed;
}

/** Its tokens are good for this command also if the file cannot be written. */
function store(login: SavedLogin): void {
  try {
    writeLogin(login);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    say(
      `the refreshed login is not stored, so that the next command may need svc-iam login: ${error.message}`,
    );
  }
}

function isFresh({ expires }: SavedLogin): boolean {
  return expires - Date.now() > MARGIN_MS;
}
