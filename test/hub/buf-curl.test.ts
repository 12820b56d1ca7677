import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnsOf, IS_THOROUGH } from "../support/effort.ts";
import { runProgram } from "../support/run-program.ts";
import { BUF } from "../support/workspace.ts";
import { BufCurl } from "./support/buf-curl.ts";
import { AS, CountingCaller, FirstCaller } from "./support/caller.ts";
import { writeConfiguration } from "./support/configuration.ts";
import { HUB, HubProcesses } from "./support/hub-process.ts";
import { ReflectionClient } from "./support/reflection-client.ts";
import { ROUTES } from "./support/routes.ts";
import { endRun, openWorkshop, reportsOf, startRun, type Workshop } from "./support/runs.ts";
import { Scene } from "./support/scene.ts";
import { playStory } from "./support/story.ts";

const RPCS = ROUTES.map(({ rpc }) => rpc).sort();
/** The protocols of `buf curl`, and their names in the log of the hub. */
const PROTOCOLS: readonly (readonly [flags: string, transport: string])[] = [
  ["", "connect"],
  ["--http2-prior-knowledge", "connect"],
  ["--protocol connect", "connect"],
  ["--protocol grpcweb", "grpc_web"],
  ["--protocol grpc", "grpc"],
];

const argsOf = (flags: string) => flags.split(" ").filter((flag) => flag !== "");
const bufCurl = (processes: HubProcesses, flags: string, ...more: string[]) =>
  new BufCurl(new URL(processes.http).host, ["curl", ...argsOf(flags), ...more]);

describe("buf curl on the gRPC port, by gRPC", () => everyRpc((hub) => new BufCurl(hub.grpc)));
describe.runIf(IS_THOROUGH)("buf curl on the HTTP port, without flags", () =>
  everyRpc((hub) => bufCurl(hub, "")),
);

function everyRpc(bufOf: (hub: HubProcesses) => BufCurl): void {
  let processes: HubProcesses;
  beforeAll(async () => {
    processes = await HubProcesses.start();
  });
  afterAll(() => processes?.remove());

  test("lists every RPC", async () => {
    // Besides health and reflection, which are not RPCs of the hub.
    const own = (await bufOf(processes).methods()).filter((rpc) => !rpc.startsWith("grpc."));
    expect(own.sort()).toEqual(RPCS);
  });

  test("calls every RPC", async () => {
    const caller = new CountingCaller(bufOf(processes));
    // The program starts for each call: in CI for all calls, else for one call of some RPCs.
    const client = new ReflectionClient(processes.grpc);
    const tried = columnsOf(RPCS, 0, 8);
    const every = IS_THOROUGH ? caller : new FirstCaller(caller, client, tried);
    // The other clients are fast enough to try all denied callers.
    await playStory(every, processes.data, ["mallory"]);
    client.close();
    expect([...caller.succeeded].sort()).toEqual(tried);
  });
}

describe.each([true, false])("on the HTTP port, with reflection %s", (reflection) => {
  let folder: string;
  let processes: HubProcesses;
  let workshop: Workshop;
  /** The flags with the schema of the API, without server reflection. */
  let schema: string[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "svc-access-buf-curl-"));
    const image = join(folder, "hub.binpb");
    const built = await runProgram(BUF, ["build", HUB, "-o", image]);
    expect(built).toMatchObject({ exitCode: 0 });
    schema = reflection ? [] : ["--schema", image];
    processes = await HubProcesses.start({
      configuration: writeConfiguration(join(folder, "hub.yaml"), ({ server }) => {
        server.grpc.reflection = reflection;
      }),
    });
    // Not by the program, which starts for each call.
    const schemas = fromBinary(FileDescriptorSetSchema, readFileSync(image));
    const client = new ReflectionClient(processes.grpc, createFileRegistry(schemas));
    workshop = await openWorkshop(new Scene(client));
    client.close();
  });
  afterAll(async () => {
    await processes?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const scene = (flags: string) => new Scene(bufCurl(processes, flags, ...schema));

  const protocols = columnsOf(PROTOCOLS, Number(reflection), 4);

  test.each(protocols)("curl %s lists the services, or nothing", async (flags) => {
    const args = ["curl", ...argsOf(flags), "--list-methods", processes.http];
    const { exitCode, output, errors } = await runProgram(BUF, args);
    expect(exitCode).toBe(reflection ? 0 : 1);
    expect(output.split("\n")).toEqual(expect.arrayContaining(reflection ? RPCS : [""]));
    expect(errors).toContain(reflection ? "" : "unimplemented");
  });

  test.each(protocols)(
    "curl %s calls, refuses, and has streams both ways",
    async (flags, transport) => {
      const buf = bufCurl(processes, flags, ...schema);
      expect(await buf.call("hub.authn.v1.AuthnService/GetMe", {}, AS.nobody)).toMatchObject({
        code: "unauthenticated",
        error: "missing principal",
      });
      const { me } = await scene(flags).one("AuthnService/GetMe", {});
      expect(me.userId).toBe("alice");
      await processes.hub.line(
        (entry) =>
          entry["rpc"] === "hub.authn.v1.AuthnService/GetMe" &&
          entry["code"] === "OK" &&
          entry["transport"] === transport,
      );

      const caller = scene(flags);
      const runId = await startRun(caller, workshop);
      const reports = reportsOf(workshop, runId, ["three", "two", "one"]);
      expect(await caller.one("RunnerService/ReportLog", reports, AS.git)).toEqual({
        lineCount: "3",
      });
      await endRun(caller, workshop, runId);
      const watch = { projectId: workshop.projectId, runId };
      const messages = await caller.all("ProjectService/WatchRun", watch);
      expect(messages.map(({ line, ended }) => line?.text ?? ended)).toEqual([
        "three",
        "two",
        "one",
        "RUN_STATE_SUCCEEDED",
      ]);
      await caller.refused("ProjectService/WatchRun", watch, AS.mallory, "permission_denied");
    },
  );
});
