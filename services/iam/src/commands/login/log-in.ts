import { PROVIDER_PATH } from "../../config/provider-paths.ts";
import { CommandError } from "../run/command-error.ts";
import { type Format, printable, printJson } from "../run/print.ts";
import { EXIT, problemOf, say } from "../run/run-command.ts";
import { type DeviceCode, logInByDevice, revokeLogin } from "./device-login.ts";
import type { Tokens } from "./issuer-answers.ts";
import {
  type LoginPerson,
  personOfLogin,
  RefusedTokenError,
  UNKNOWN_PERSON,
} from "./person-of-login.ts";
import { readLogin, removeLogin, writeLogin } from "./saved-login.ts";
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
  const person = await personOf(server, tokens);
  writeLogin({ server, ...client, ...tokens, ...person });
  const { username, organizationId } = person;
  if (format === "json") await printJson({ server, username, organizationId });
  else say(`logged in at ${server}${username === "" ? "" : ` as ${printable(username)}`}`);
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

/** Whose a new login is. That is asked again if the server does not say it: the login is not lost, and its session not left. */
async function personOf(server: string, { accessToken }: Tokens): Promise<LoginPerson> {
  try {
    return await personOfLogin(server, accessToken);
  } catch (error) {
    if (error instanceof RefusedTokenError) throw error;
    const problem = problemOf(error as Error) ?? (error as Error).message;
    say(`whose this login is could not be asked, so the next command asks: ${problem}`);
    return UNKNOWN_PERSON;
  }
}
