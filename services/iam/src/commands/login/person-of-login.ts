import { createHttpClient } from "svc-access/runtime";
import { IAMAuthService } from "../../../gen/svc/iam/v1/auth_pb.ts";
import { IAMAuthServiceRoutes } from "../../../gen/svc/iam/v1/auth_server.ts";
import { CommandError } from "../run/command-error.ts";
import { namingTheServer } from "../run/naming-the-server.ts";
import type { SavedLogin } from "./saved-login.ts";

/** Whose a login is. */
export type LoginPerson = Pick<SavedLogin, "organizationId" | "username">;

/** Of a login whose server has not said it yet: a later command asks again. */
export const UNKNOWN_PERSON: LoginPerson = { organizationId: "", username: "" };

/** The server refuses the access token of a new login. */
export class RefusedTokenError extends CommandError {}

/** Asks the server whose an access token is. @throws RefusedTokenError if it does not accept the token */
export async function personOfLogin(server: string, accessToken: string): Promise<LoginPerson> {
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
    throw new RefusedTokenError(
      `the server does not accept tokens of this client (${(error as Error).message}): list its id in security.authn.oidc.audience`,
    );
  }
}
