import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AS } from "./support/caller.ts";
import { HUB, HubProcesses } from "./support/hub-process.ts";
import { Load, recordedLogins } from "./support/load.ts";
import { ReflectionClient } from "./support/reflection-client.ts";
import { Scene } from "./support/scene.ts";
import { slowRequest } from "./support/slow-request.ts";
import { auditedIn } from "./support/stored.ts";

let processes: HubProcesses;
let client: ReflectionClient;
let projectId = "";

const reconnect = async () => {
  client?.close();
  client = new ReflectionClient(processes.grpc);
  await client.registry();
};

beforeAll(async () => {
  processes = await HubProcesses.start();
  await reconnect();
});
afterAll(async () => {
  client?.close();
  await processes?.remove();
});

test("SIGTERM under load: a running call completes, new ones are not accepted, exit code 0", async () => {
  const load = new Load(processes, client, 40);
  await load.warm;
  const slow = slowRequest(processes.http);
  await slow.begun;
  const exited = processes.hub.stop("SIGTERM");
  // The others see that it accepts no more calls; then the slow one sends the rest of its request.
  await load.end();
  slow.finish();
  expect(await slow.response).toMatch(/^HTTP\/1\.1 200 /);
  expect(await exited).toBe(0);
  expect(await processes.hub.line(({ message }) => message === "stopped")).toBeDefined();
  expect(processes.hub.errors).toBe("");
  // Callers that are not served get an error or no connection.
  expect(
    [...load.outcomes].filter((outcome) => !["ok", "none", "503", "unavailable"].includes(outcome)),
  ).toEqual([]);

  await processes.startHub();
  await reconnect();
  expect(await recordedLogins(client)).toEqual(
    expect.arrayContaining([...load.acknowledged, "slow"]),
  );
});

test("kill -9 under load loses nothing that was acknowledged", async () => {
  const scene = new Scene(client);
  const project = { organizationId: "acme", displayName: "Kept" };
  projectId = (await scene.one("ProjectService/CreateProject", { project })).project.projectId;
  const member = { role: "ROLE_VIEWER", userId: "bob" };
  await scene.one("AuthzService/GrantRole", { projectId, member });
  const skill = { skillId: "kept", spaceId: "tools", displayName: "Kept" };
  await scene.one("SkillService/CreateSkill", { skill });
  const load = new Load(processes, client, 100);
  await load.warm;
  await processes.hub.stop("SIGKILL");
  await load.end();

  await processes.startHub();
  await reconnect();
  const after = new Scene(client);
  expect(
    (await after.one("ProjectService/GetProject", { projectId }, AS.bob)).project,
  ).toMatchObject(project);
  expect((await after.one("SkillService/GetSkill", { skillId: "kept" })).skill).toMatchObject(
    skill,
  );
  expect(await recordedLogins(client)).toEqual(expect.arrayContaining(load.acknowledged));
  const events = auditedIn(processes.data).filter(({ code }) => code === "OK");
  for (const type of ["project.create", "project.role.grant", "skill.create"]) {
    expect(events).toContainEqual(expect.objectContaining({ type, principal: "user:alice" }));
  }
  const logins = events.filter(({ type }) => type === "authn.login.record");
  expect(logins.length).toBeGreaterThanOrEqual(load.acknowledged.length);
});

test("a second hub on the same data does not start, and the first one continues", async () => {
  const second = processes.newHub();
  expect(await second.exited).toBe(2);
  expect(second.errors).toMatch(
    new RegExp(
      `^the server does not start: .*platform\\.relationships\\.db is held by process ${processes.hub.child.pid} `,
    ),
  );
  expect(second.errors).not.toMatch(/^\s+at /m);
  await new Scene(client).one("ProjectService/GetProject", { projectId }, AS.bob);
});

test("a call that does not end is cut off in time, and the exit code is 0", async () => {
  const configuration = join(processes.data, "hub.yaml");
  const text = readFileSync(join(HUB, "hub.yaml"), "utf8")
    .replace("server:\n", "server:\n  shutdown_timeout_ns: 500000000\n")
    .replace("node_modules/", `${HUB}/node_modules/`);
  writeFileSync(configuration, text);
  await processes.hub.stop();
  await processes.startHub({ configuration });
  const slow = slowRequest(processes.http);
  await slow.begun;
  expect(await processes.hub.stop()).toBe(0);
  const { output } = processes.hub;
  expect(output).toContain("calls were still under way and are cut off");
  expect(await slow.response).not.toMatch(/ 200 /);
});
