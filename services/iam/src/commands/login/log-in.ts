import { createHttpClient } from "svc-access/runtime";
import { IAMAuthService } from "../../../gen/svc/iam/v1/auth_pb.ts";
import { IAMAuthServiceRoutes } from "../../../gen/svc/iam/v1/auth_server.ts";
import { PROVIDER_PATH } from "../../config/provider-paths.ts";
import { CommandError } from "../run/command-error.ts";
import { namingTheServer } from "../run/naming-the-server.ts";
import { type Format, printable, printJson } from "../run/print.ts";
import { EXIT, say } from "../run/run-command.ts";
import { type DeviceCode, logInByDevice, revokeLogin, type Tokens } from "./device-login.ts";
import { readLogin, removeLogin, type SavedLogin, writeLogin } from "./saved-login.ts";
import { assertIssuer, serverOrigin } from "./server-url.ts";

/** The flags of `svc-iam login`. */
export interface LoginFlags {
  readonly clientId: string;
  readonly issuer?: string;
  readonly format: Format;
}

/** Logs a person in and stores the login. @returns the exit code */
export async function logIn(named: string | undefined, flags: LoginFlags): Promise<number> {
  const server = named === undefined ? lastServer() : serverOrigin(named);
  const { clientId, issuer = `${server}${PROVIDER_PATH}`, format } = flags;
  assertIssuer(issuer);
  const client = { issuer, clientId };
  const tokens = await logInByDevice(client, show);
  const login: SavedLogin = { server, ...client, ...tokens, ...(await personOf(server, tokens)) };
  writeLogin(login);
  const { username, organizationId } = login;
  if (format === "json") await printJson({ server, username, organizationId });
  else say(`logged in at ${server} as ${printable(username)}`);
  return EXIT.done;
}

/** Ends the login here, then at the server. @returns the exit code */
export async function logOut(format: Format): Promise<number> {
  const login = readLogin();
  if (login === undefined) {
    if (format === "json") await printJson({});
    else say("nobody is logged in");
    return EXIT.done;
  }
  removeLogin();
  try {
    if (login.refreshToken !== undefined) await revokeLogin(login, login.refreshToken);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(
      `the login is removed here, but its session at ${login.server} was not ended (${error.message}): log in there again, and end it with svc-iam session end`,
      { cause: error },
    );
  }
  if (format === "json") await printJson({ server: login.server });
  else say(`logged out of ${login.server}`);
  return EXIT.done;
}

function lastServer(): string {
  const last = readLogin();
  if (last !== undefined) return last.server;
  throw new CommandError("name the server: svc-iam login https://iam.example.com");
}

/** On standard error: a script that reads the result shows it to its person all the same. */
function show({ url, fullUrl, code }: DeviceCode): void {
  say(`open ${printable(fullUrl ?? url)} in a browser, and confirm the code ${printable(code)}`);
}

async function personOf(server: string, { accessToken }: Tokens) {
  await using auth = createHttpClient(IAMAuthService, IAMAuthServiceRoutes, {
    baseUrl: server,
    before: [namingTheServer(server)],
    metadata: { authorization: `Bearer ${accessToken}` },
  });
  try {
    const { user } = await auth.getMe({});
    const { organizationId = "", username = "", subjectId = "" } = user ?? {};
    return { organizationId, username: username === "" ? subjectId : username };
  } catch (error) {
    if ((error as { code?: string }).code !== "UNAUTHORIZED") throw error;
    throw new CommandError(
      `the server does not accept tokens of this client (${(error as Error).message}): list its id in security.authn.oidc.audience`,
    );
  }
}
