/** Groups and organizations where another identity provider logs people in. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IamWithCasdoor } from "../../support/casdoor/iam-with-casdoor.ts";
import { asUser, type IamService, INTERNAL_TOKEN, startIam } from "../../support/iam-service.ts";
import { GROUPS, groupCalls } from "./group-service.ts";

const SYSTEM_TOKEN = "the-system-token-of-the-platform-in-tests";
const AS_SYSTEM = { "X-Svc-Internal-Token": SYSTEM_TOKEN };
const internal_call = {
  enabled: true,
  token: [{ service: "hub", token: INTERNAL_TOKEN }],
  system_token: SYSTEM_TOKEN,
};
const DIRECTORY = "/v1/iam/organizations/acme";

describe("with an OpenID provider", () => {
  let iam: IamService;
  const groups = groupCalls(() => iam);
  beforeAll(async () => {
    iam = await startIam({
      authn: { provider: "oidc", internal_call },
      login: { client_secret: "a secret of the client" },
    });
    await groups.relate("zone:acme#owner@user:root");
  });
  afterAll(() => iam.stop());

  test("the directory has the groups and organizations of this service, and no users", async () => {
    const id = await groups.make("root", "Staff");
    const get = (path: string) => iam.call("GET", `${DIRECTORY}${path}`, undefined, asUser("root"));
    expect((await get("/groups")).body.groups).toMatchObject([{ id, displayName: "Staff" }]);
    expect((await get("")).body).toMatchObject({ id: "acme" });
    for (const path of ["/users", "/users/alice"]) {
      const { status, body } = await get(path);
      expect([status, body.code]).toEqual([501, "UNIMPLEMENTED"]);
    }
  });

  test("every user counts as an owner of a zone, and the last one stays", async () => {
    const id = await groups.make("root", "Owners");
    await groups.relate("zone:solo#owner@user:one", `zone:solo#owner@group:${id}#member`);
    const member = { type: "user", id: "two" };
    expect((await groups.add("root", id, member)).status).toBe(403);
    await groups.relate(`group:${id}#member@user:two`, "zone:solo#owner@user:root");
    expect((await groups.drop("root", id, member)).status).toBe(200);
  });

  test("organizations are created for its users", async () => {
    const body = { organizationId: "umbrella", displayName: "Umbrella" };
    const path = "/v1/iam/system/organizations";
    expect((await iam.call("POST", path, body, AS_SYSTEM)).status).toBe(200);
  });
});

describe("with Casdoor", () => {
  let it: IamWithCasdoor;
  const groups = groupCalls(() => it.iam);
  beforeAll(async () => {
    it = await IamWithCasdoor.start({ authn: { internal_call } });
    await groups.relate("zone:acme#owner@user:root");
  });
  afterAll(() => it.stop());

  test("groups of this service are made and listed, beside those of Casdoor", async () => {
    const id = await groups.make("root", "Staff");
    const path = `${GROUPS}:visible`;
    const { body } = await it.iam.call("GET", path, undefined, asUser("root"));
    expect(body.groups).toMatchObject([{ id, displayName: "Staff" }]);
    expect((await groups.add("root", id, { type: "user", id: "alice" })).status).toBe(200);
  });

  test("organizations are Casdoor's, and the message says so", async () => {
    const path = "/v1/iam/system/organizations";
    for (const [method, below] of [
      ["GET", ""],
      ["GET", "/acme"],
      ["DELETE", "/acme"],
    ] as const) {
      const answer = await it.iam.call(method, `${path}${below}`, undefined, AS_SYSTEM);
      expect([answer.status, answer.body.code]).toEqual([501, "UNIMPLEMENTED"]);
      expect(answer.body.message).toContain("Casdoor");
    }
  });
});
