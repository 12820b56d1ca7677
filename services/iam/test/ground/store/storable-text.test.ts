/** Texts with NUL, which PostgreSQL cannot hold and anybody can send. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgres, query } from "../../../../../test/support/postgres.ts";
import { ProviderDatabase } from "../../../src/ground/store/provider-database.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { Revocations } from "../../../src/people/sessions/revocations.ts";
import { Sessions } from "../../../src/people/sessions/sessions.ts";
import { databaseOf } from "../../support/browser-login.ts";
import {
  AS_HUB,
  asUser,
  type IamService,
  LOGIN_CLIENT,
  startIam,
} from "../../support/iam-service.ts";
import { logInAt } from "../../support/log-in-at.ts";
import { OLD, startUsers } from "../../support/passwords.ts";

const CLIENT = { client_id: LOGIN_CLIENT };
const PAGE = `users.1.${Buffer.from("a\0").toString("base64url")}`;

const server = await openPostgres();
if (server === undefined) test.skip("PostgreSQL is not installed", () => undefined);
else {
  describe("a text with NUL is refused, and not an error of the database:", () => {
    let iam: IamService;
    let alice: string;
    beforeAll(async () => {
      const name = `iam_${randomUUID().replaceAll("-", "")}`;
      await query(server.url, `create database ${name}`);
      const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
      iam = await startIam({ database: { driver: "postgres", file: undefined, url } });
      alice = (await startUsers(iam, ["alice"]))["alice"] ?? "";
    });
    afterAll(async () => {
      await iam.stop();
      await server.remove();
    });

    test("the user name of a login", async () => {
      await expect(logInAt(iam, "ali\0ce", OLD)).rejects.toThrow(
        "The user name or the password is wrong",
      );
    });

    test("the token of a page", async () => {
      const path = `/v1/users?page_token=${PAGE}`;
      expect((await iam.call("GET", path, undefined, asUser("root"))).status).toBe(400);
    });

    test("the id of a user or session, which gRPC can send", async () => {
      const database = databaseOf(iam);
      expect(await new LocalAccounts(database.kysely, "acme").find("a\0")).toBeUndefined();
      const provider = new ProviderDatabase(database as never);
      const sessions = new Sessions(provider, new Revocations(provider));
      expect(await sessions.end("a\0", alice)).toBeUndefined();
    });

    test("a refresh token of a service", async () => {
      const { status } = await iam.call(
        "POST",
        "/v1/iam/tokens:refresh",
        { refreshToken: "\0" },
        AS_HUB,
      );
      expect(status).toBe(400);
    });

    test.each(["auth?client_id=%00", "session/end?client_id=%00", "session/end?id_token_hint=%00"])(
      "the provider's page %s",
      async (path) => {
        const response = await fetch(`${iam.origin}/v1/iam/oidc/${path}`, { redirect: "manual" });
        expect(response.status).toBe(400);
      },
    );

    test.each<[string, Record<string, string>]>([
      ["client", { client_id: "\0", grant_type: "client_credentials" }],
      ["refresh token", { ...CLIENT, grant_type: "refresh_token", refresh_token: "\0" }],
    ])("the %s of a request for tokens", async (_, fields) => {
      const body = new URLSearchParams(fields);
      const response = await fetch(`${iam.origin}/v1/iam/oidc/token`, { method: "POST", body });
      expect([400, 401]).toContain(response.status);
    });
  });
}
