import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AS, type Json } from "./support/caller.ts";
import { HubProcesses, TOKENS } from "./support/hub-process.ts";
import { ReflectionClient } from "./support/reflection-client.ts";
import { auditedIn, storedIn } from "./support/stored.ts";

let processes: HubProcesses;

beforeAll(async () => {
  processes = await HubProcesses.start();
});
afterAll(() => processes?.remove());

const createSkill = async (skillId: string) => {
  const response = await fetch(`${processes.http}/v1/skills`, {
    method: "POST",
    headers: { ...AS.alice, "content-type": "application/json" },
    body: JSON.stringify({ skillId, spaceId: "tools", displayName: "Skill" }),
  });
  const body = (await response.json()) as Json;
  return { status: response.status, body, retryAfter: response.headers.get("retry-after") };
};

/** Asks the Git service itself, as the hub. */
const repositoryOf = async (repositoryId: string) => {
  const git = new ReflectionClient(processes.gitGrpc);
  const headers = { "x-svc-internal-token": TOKENS.HUB_TOKEN };
  const rpc = "git.v1.RepositoryService/GetRepository";
  const answer = await git.call(rpc, { repositoryId }, headers);
  const stranger = await git.call(rpc, { repositoryId }, AS.git);
  git.close();
  expect(stranger.code).toBe("unauthenticated");
  return answer;
};

test("the hub calls the Git service as itself, for the skill that alice creates [PLAT-10]", async () => {
  expect((await createSkill("first")).status).toBe(200);
  const { code, messages } = await repositoryOf("first");
  expect(code).toBe("ok");
  expect(messages[0].repository).toMatchObject({ repositoryId: "first", createdBy: "hub" });
  expect(auditedIn(processes.data, "git-audit.db")).toContainEqual({
    type: "git.repository.create",
    rpc: "git.v1.RepositoryService/CreateRepository",
    principal: "service:hub",
    code: "OK",
  });
});

test("of two who create the same skill concurrently, one is rejected, and owns nothing", async () => {
  const before = storedIn(processes.data)["platform.relationships.db relationships"]?.length ?? 0;
  const statuses = await Promise.all([1, 2, 3].map(async () => (await createSkill("race")).status));
  expect(statuses.sort()).toEqual([200, 409, 409]);
  const after = storedIn(processes.data)["platform.relationships.db relationships"]?.length ?? 0;
  expect(after - before).toBe(2);
});

test("without the Git service, creating a skill is 503 and leaves nothing behind, and works later", async () => {
  const before = storedIn(processes.data);
  await processes.git.stop();
  // Until the hub stops calling it for a while.
  for (;;) {
    const { status, body, retryAfter } = await createSkill("second");
    if (status !== 429) expect([status, body.code]).toEqual([503, "UNAVAILABLE"]);
    expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/);
    if (status === 503 && retryAfter !== null) break;
    if (status === 429) await sleep(Number(retryAfter) * 1000);
  }
  expect(storedIn(processes.data)).toEqual(before);

  await processes.startGit();
  let last = await createSkill("second");
  while (last.status === 503 || last.status === 429) {
    await sleep(Number(last.retryAfter ?? 1) * 1000);
    last = await createSkill("second");
  }
  expect([last.status, last.body.skillId]).toEqual([200, "second"]);
  expect((await repositoryOf("second")).code).toBe("ok");
});

test("a token that the Git service does not know is the hub's fault, and not reported to callers", async () => {
  await processes.hub.stop();
  const wrong = "another-token-of-the-hub-77aa";
  await processes.startHub({ environment: { HUB_TOKEN: wrong } });
  const { status, body } = await createSkill("third");
  expect([status, body.code, body.message]).toEqual([500, "INTERNAL", "internal error"]);
  await processes.hub.line(({ request_id }) => request_id === body.request_id);
  for (const text of [wrong, ...Object.values(TOKENS)]) {
    expect(processes.hub.output + processes.git.output + JSON.stringify(body)).not.toContain(text);
  }
  expect((await repositoryOf("third")).code).toBe("not_found");
});
