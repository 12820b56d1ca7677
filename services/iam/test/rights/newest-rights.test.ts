/** Rights that are revoked at one replica, at another one: what it knows of SpiceDB may be some seconds old. */
import { readFileSync } from "node:fs";
import { createSpicedbEngine, parseModel, type SpicedbEngine } from "svc-access/authz";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type SpicedbServer,
  spicedbIsAbsent,
  startSpicedb,
} from "../../../../test/support/spicedb.ts";
import { write } from "../rights/rights-engine.ts";
import { asUser, type IamService, startIam } from "../support/iam-service.ts";

const FILE = new URL("../../../../model/iam.zed", import.meta.url).pathname;
const SCHEMA = readFileSync(FILE, "utf8");
const { model } = parseModel(SCHEMA, FILE);
const PASSWORD = "correct horse battery staple";
const ACCOUNTS = "/v1/iam/service-accounts";

describe.skipIf(spicedbIsAbsent())(
  "a right that was revoked at another replica does not count",
  () => {
    let spicedb: SpicedbServer;
    let iam: IamService;
    /** Of the other replica. */
    let other: SpicedbEngine;
    let caller = "";
    let user = "";
    let account = "";
    let group = "";
    beforeAll(async () => {
      spicedb = await startSpicedb();
      const { endpoint, token } = spicedb;
      other = await createSpicedbEngine({ endpoint, token, insecure: true, model });
      await other.writeSchema(SCHEMA);
      await write(other, "zone:acme#owner@user:root");
      iam = await startIam({
        authz: { provider: "spicedb", spicedb: { endpoint, token, insecure: true } },
      });
      const made = async (path: string, body: object, by = "root") => {
        const answer = await iam.call("POST", path, body, asUser(by));
        expect([answer.status, answer.body]).toMatchObject([200, { id: expect.any(String) }]);
        return answer.body.id as string;
      };
      const person = (username: string) => ({
        username,
        displayName: username,
        email: `${username}@example.com`,
        password: PASSWORD,
      });
      caller = await made("/v1/users", person("manager"));
      user = await made("/v1/users", person("alice"));
      await write(iam.options.engine as SpicedbEngine, `zone:acme#owner@user:${caller}`);
      account = await made(ACCOUNTS, { displayName: "Robot" }, caller);
      group = await made("/v1/iam/organizations/acme/groups", { displayName: "Group" });
      await write(other, `-zone:acme#owner@user:${caller}`);
    });
    afterAll(async () => {
      await iam.stop();
      await other.close();
      await spicedb.stop();
    });

    const rename = { displayName: "Another name" };
    test.each<[string, string, string, () => string, object?]>([
      [
        "UpdateGroup",
        "group_manager",
        "PATCH",
        () => `/v1/iam/organizations/acme/groups/${group}`,
        rename,
      ],
      ["UpdateUser", "user_manager", "PATCH", () => `/v1/users/${user}`, rename],
      ["CreateServiceAccount", "user_manager", "POST", () => ACCOUNTS, { displayName: "Second" }],
      ["UpdateServiceAccount", "user_manager", "PATCH", () => `${ACCOUNTS}/${account}`, rename],
      ["ListUserSessions", "user_manager", "GET", () => `/v1/users/${user}/sessions`],
      ["ListAuditEvents", "admin", "GET", () => "/v1/iam/audit/events?page_size=1"],
      ["ExportAuditEvents", "admin", "GET", () => "/v1/iam/audit/events:export?filter.type=none"],
    ])("%s, with %s", async (_, relation, method, path, body) => {
      const right = `zone:acme#${relation}@user:${caller}`;
      const status = async () => {
        const headers = { ...asUser(caller), "content-type": "application/json" };
        const init = body === undefined ? {} : { body: JSON.stringify(body) };
        const response = await fetch(`${iam.origin}${path()}`, { method, headers, ...init });
        await response.text();
        return response.status;
      };
      await write(iam.options.engine as SpicedbEngine, right);
      expect(await status()).toBe(200);
      await write(other, `-${right}`);
      expect(await status()).toBe(403);
    });
  },
);
