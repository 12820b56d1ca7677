/** The hub beside svc-iam, which has the relationships: AUTHZ_PROVIDER=iam. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AS, fullName } from "./support/caller.ts";
import { HubProcesses, ServiceProcess, TOKENS } from "./support/hub-process.ts";
import { IamProcess } from "./support/iam-process.ts";
import { ReflectionClient } from "./support/reflection-client.ts";
import { Scene } from "./support/scene.ts";
import { playStory } from "./support/story.ts";

let iam: IamProcess;
let processes: HubProcesses;
let client: ReflectionClient;

beforeAll(async () => {
  iam = await IamProcess.prepare();
  // The hub comes first: it waits for IAM.
  processes = await HubProcesses.start({ environment: iam.environment });
  client = new ReflectionClient(processes.grpc);
});
afterAll(async () => {
  client?.close();
  await processes?.remove();
  await iam?.remove();
});

const status = async (path: string, headers: Readonly<Record<string, string>> = AS.alice) => {
  const response = await fetch(`${processes.http}${path}`, { headers });
  await response.arrayBuffer();
  return response.status;
};
const readyz = async () => (await fetch(`${processes.http}/readyz`)).json();

test("a hub that starts before IAM is not ready, and refuses what it cannot check", async () => {
  expect(await readyz()).toMatchObject({
    status: "not_ready",
    reasons: [
      expect.stringMatching(/IAM at .* cannot be reached \(connection refused\): .*iam\.endpoint$/),
      "revocations: they were not received yet, so tokens are refused",
    ],
  });
  expect(await status("/v1/projects/1")).toBe(503);
  // What needs no check is served.
  expect(await status("/v1/authn/me")).toBe(200);
});

test("it becomes ready when IAM is there, and has written what it begins with", async () => {
  await iam.start();
  await expect.poll(readyz, { message: "the hub is ready" }).toMatchObject({ status: "ready" });
  const nameless = { project: { organizationId: "acme" } };
  const created = async () =>
    (await client.call(fullName("ProjectService/CreateProject"), nameless, AS.alice)).code;
  // Alice owns the organization then, and the name is missing.
  await expect
    .poll(created, { message: "alice may create a project", interval: 500 })
    .toBe("invalid_argument");
  expect(processes.hub.errors).toMatch(/^not seeded yet: IAM at .* cannot be reached .*\n$/);
});

test("every RPC works as with an engine of its own [PLAT-12]", async () => {
  // The story compares what is stored before and after a refusal.
  const file = join(processes.data, "platform.relationships.db");
  symlinkSync(join(iam.folder, "iam.relationships.db"), file);
  await playStory(client, processes.data);
});

describe("while IAM is away", () => {
  let projectId = "";
  const path = () => `/v1/projects/${projectId}`;
  beforeAll(async () => {
    const scene = new Scene(client);
    const project = { organizationId: "acme", displayName: "Kept" };
    projectId = (await scene.one("ProjectService/CreateProject", { project })).project.projectId;
  });

  test("nobody is allowed, and checks are served again without a restart [ENG-8]", async () => {
    expect([await status(path()), await status(path(), AS.mallory)]).toEqual([200, 403]);
    await iam.kill();
    for (let attempt = 0; attempt < 5; attempt++) {
      expect([await status(path()), await status(path(), AS.mallory)]).toEqual([503, 503]);
    }
    expect(await status(`/v1/authz/projects/${projectId}/my-permissions`)).toBe(503);
    await iam.start();
    await expect.poll(() => status(path()), { message: "checks are served again" }).toBe(200);
    expect(await status(path(), AS.mallory)).toBe(403);
    // What was granted before the kill is there, and new grants are seen at once.
    const scene = new Scene(client);
    expect(await status(path(), AS.bob)).toBe(403);
    const member = { role: "ROLE_VIEWER", userId: "bob" };
    await scene.one("AuthzService/GrantRole", { projectId, member });
    expect(await status(path(), AS.bob)).toBe(200);
  });
});

test("another provider is refused, and the message says which there are", async () => {
  const hub = new ServiceProcess("hub", { environment: { ...TOKENS, AUTHZ_PROVIDER: "spicedb" } });
  expect(await hub.exited).not.toBe(0);
  expect(hub.errors).toContain("AUTHZ_PROVIDER is spicedb: it must be embedded or iam");
});
