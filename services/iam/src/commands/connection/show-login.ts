import { IAMAuthService } from "../../../gen/svc/iam/v1/auth_pb.ts";
import { IAMAuthServiceRoutes } from "../../../gen/svc/iam/v1/auth_server.ts";
import { type Format, printable, printJson, printLine } from "../run/print.ts";
import { EXIT } from "../run/run-command.ts";
import { connectLoggedIn, freshLogin, requireLogin } from "./logged-in.ts";

/** Says who is logged in, as the server knows the person now. @returns the exit code */
export async function whoAmI(format: Format): Promise<number> {
  const { server } = requireLogin();
  await using connection = await connectLoggedIn();
  const { user } = await connection.client(IAMAuthService, IAMAuthServiceRoutes).getMe({});
  const { subjectId = "", username = "", email = "", organizationId = "" } = user ?? {};
  // The call may have refreshed it.
  const { expires: time, refreshToken } = requireLogin();
  const expires = new Date(time).toISOString();
  const isRefreshed = refreshToken !== undefined;
  if (format === "json") {
    const who = { server, id: subjectId, username, email, organizationId };
    await printJson({ ...who, tokenExpires: expires, refreshed: isRefreshed });
    return EXIT.done;
  }
  const name = username === "" ? subjectId : `${username} (user:${subjectId})`;
  const until = isRefreshed
    ? "until the session ends; svc-iam session list shows it"
    : `until ${expires}`;
  await printLine(printable(`${name} of ${organizationId} at ${server}, ${until}`));
  return EXIT.done;
}

/** Prints an access token that is fresh. @returns the exit code */
export async function printToken(format: Format): Promise<number> {
  const { accessToken, expires } = await freshLogin(requireLogin());
  const time = new Date(expires).toISOString();
  if (format === "json") await printJson({ accessToken, expires: time });
  else await printLine(accessToken);
  return EXIT.done;
}
