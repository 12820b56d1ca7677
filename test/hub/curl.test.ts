import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAbsent } from "../support/run-program.ts";
import { CountingCaller } from "./support/caller.ts";
import { Curl } from "./support/curl.ts";
import { HubProcesses } from "./support/hub-process.ts";
import { ReflectionClient } from "./support/reflection-client.ts";
import { ROUTES } from "./support/routes.ts";
import { playStory } from "./support/story.ts";

describe.skipIf(isAbsent("curl"))("curl", () => {
  let processes: HubProcesses;
  let uploads: ReflectionClient;

  beforeAll(async () => {
    processes = await HubProcesses.start();
    uploads = new ReflectionClient(processes.grpc);
  });
  afterAll(async () => {
    uploads?.close();
    await processes?.remove();
  });

  test("every route is called; RPCs without a route are called over gRPC", async () => {
    const curl = new Curl(processes.http, uploads);
    const caller = new CountingCaller(curl);
    await playStory(caller, processes.data);
    expect([...caller.succeeded].sort()).toEqual(ROUTES.map(({ rpc }) => rpc).sort());
    const routes = ROUTES.flatMap(({ http = [] }) =>
      http.map(({ method, path }) => `${method} ${path}`),
    );
    expect([...curl.served].sort()).toEqual(routes.sort());
  });
});
