import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AuthzService } from "../../../../examples/hub/gen/hub/authz/v1/authz_pb.ts";
import { SkillService } from "../../../../examples/hub/gen/hub/skills/v1/skill_service_pb.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { ReflectionIndex } from "../../../../src/runtime/grpc/health-and-reflection/reflection-index.ts";
import { LegacyService } from "../../http/unusual-protos/gen/unusual/legacy/v1/legacy_pb.ts";
import { boundMethods } from "../support/echo-methods.ts";
import { type EchoServer, startEchoServer } from "../support/echo-server.ts";
import { frame, rawCall, rawSession } from "../support/raw-call.ts";

const run = promisify(execFile);
let echo: EchoServer;
let ready = true;

beforeAll(async () => {
  echo = await startEchoServer({
    options: {
      isReady: () => ready,
      methods: [...boundMethods(), ...boundMethods(SkillService), ...boundMethods(AuthzService)],
    },
    // Nobody gets past the chain: what answers here does not go through it.
    chain: {
      authentication: () => {
        throw new ServiceError("UNAUTHORIZED");
      },
    },
  });
});
afterAll(() => echo.close());

const text = (field: number, value: string) =>
  new BinaryWriter().tag(field, WireType.LengthDelimited).string(value).finish();

/** Makes a call with one request by grpc-js and returns the fields of the first response. */
function ask(
  path: string,
  request: Uint8Array,
  target = echo.target,
): Promise<Map<number, Uint8Array>> {
  const client = new Client(target, credentials.createInsecure());
  const asIs = (bytes: Buffer) => bytes;
  return new Promise((resolve, reject) => {
    const call = client.makeBidiStreamRequest(path, asIs, asIs);
    call.on("data", (data: Buffer) => resolve(fields(data)));
    call.on("error", reject);
    call.end(Buffer.from(request));
  }).finally(() => client.close()) as Promise<Map<number, Uint8Array>>;
}

function fields(bytes: Uint8Array): Map<number, Uint8Array> {
  const reader = new BinaryReader(bytes);
  const found = new Map<number, Uint8Array>();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.LengthDelimited) found.set(field, reader.bytes());
    else found.set(field, Uint8Array.of(reader.int32()));
  }
  return found;
}

describe("reflection", () => {
  const paths = ["v1", "v1alpha"].map(
    (version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
  );

  test.each(paths)("%s: unknown names", async (path) => {
    for (const request of [
      text(3, "nothing.proto"),
      text(4, "no.Symbol"),
      text(4, ""),
      text(6, "no.Message"),
      text(9, "x"),
      new Uint8Array(),
      new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(text(1, "a.B")).finish(),
    ]) {
      const answer = await ask(path, request);
      expect([...answer.keys()]).toEqual([1, 2, 7]);
      expect(answer.get(2)).toEqual(Buffer.from(request));
    }
  });

  test.each(paths)("%s: a malformed query", async (path) => {
    await expect(ask(path, Uint8Array.of(0x3a, 0xff))).rejects.toMatchObject({ code: 3 });
  });

  test.each(paths)("%s: files keep the options that others declare", async (path) => {
    for (const symbol of [
      "fixture.v1.EchoService",
      "fixture.v1.EchoService.Echo",
      "fixture.v1.EchoRequest",
      "fixture.v1.EchoRequest.text",
      "fixture.v1.SHADE_DARK",
    ]) {
      const files = Buffer.from((await ask(path, text(4, symbol))).get(4) as Uint8Array);
      // The default value of exposure is written: PUBLIC (0) of field 1 in option 50810.
      expect(files.includes("fixture/v1/fixture.proto")).toBe(true);
      expect(files.includes("svc/access/v1/policy.proto")).toBe(true);
      expect(files.includes("/v1/echo/{text}")).toBe(true);
    }
    const numbers = (await ask(path, text(6, "google.protobuf.MethodOptions"))).get(
      5,
    ) as Uint8Array;
    expect(Buffer.from(numbers).includes("google.protobuf.MethodOptions")).toBe(true);
  });

  test.each([
    "Old.OldByNameEntry",
    "Old.OldByNameEntry.value",
    "Old.Pair",
    "Old.which",
    "Scope.nested_extension",
    "MOOD_CALM",
  ])("the file of %s is found, as other servers find it", (symbol) => {
    const index = new ReflectionIndex([LegacyService]);
    const [file = new Uint8Array()] = index.bySymbol(`unusual.legacy.v1.${symbol}`) ?? [];
    expect(fromBinary(FileDescriptorProtoSchema, file).name).toBe("unusual/legacy/v1/legacy.proto");
  });

  test("buf lists services and methods, and calls", async () => {
    const address = `http://${echo.target}`;
    const curl = (...args: string[]) =>
      run("buf", ["curl", "--protocol", "grpc", "--http2-prior-knowledge", ...args]).then(
        ({ stdout }) => stdout,
        (error: { stderr: string; stdout: string }) => error.stdout + error.stderr,
      );
    expect((await curl("--list-services", address)).trim().split("\n")).toEqual([
      "fixture.v1.EchoService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "hub.authz.v1.AuthzService",
      "hub.skills.v1.SkillService",
    ]);
    const health = await curl("-d", '{"service":""}', `${address}/grpc.health.v1.Health/Check`);
    expect(JSON.parse(health)).toEqual({ status: "SERVING" });
    const asked = '{"list_services":""}';
    for (const version of ["v1", "v1alpha"]) {
      const name = `grpc.reflection.${version}.ServerReflection`;
      const answer = JSON.parse(await curl("-d", asked, `${address}/${name}/ServerReflectionInfo`));
      expect(answer.originalRequest).toEqual({ listServices: "" });
      expect(answer.listServicesResponse.service).toContainEqual({ name });
    }
    const methods = await curl("--list-methods", `${address}`);
    expect(methods).toContain("hub.skills.v1.SkillService/GetSkill");
    const refused = await curl(
      "-d",
      '{"skill_id":"s1"}',
      `${address}/hub.skills.v1.SkillService/GetSkill`,
    );
    expect(refused).toContain("unauthenticated");
  });

  test("is off if the configuration disables it", async () => {
    const off = await startEchoServer({ config: { reflection: false } });
    for (const path of paths) {
      await expect(ask(path, text(7, ""), off.target)).rejects.toMatchObject({ code: 12 });
    }
    await off.close();
  });
});

describe("health", () => {
  const CHECK = "/grpc.health.v1.Health/Check";
  const WATCH = "/grpc.health.v1.Health/Watch";

  test.each([
    { service: "nothing", status: 5 },
    { service: "", status: 0 },
    { service: "fixture.v1.EchoService", status: 0 },
    { service: "hub.skills.v1.SkillService", status: 0 },
  ])("Check of '$service'", async ({ service, status }) => {
    const session = rawSession(echo.port);
    for (ready of [false, true]) {
      const answer = await rawCall(session, CHECK, {}, frame(text(1, service)));
      expect(answer.grpcStatus).toBe(status);
      if (status === 0) expect(fields(answer.body.subarray(5)).get(1)?.[0]).toBe(ready ? 1 : 2);
    }
    session.destroy();
  });

  test("Check without a message", async () => {
    const session = rawSession(echo.port);
    expect(await rawCall(session, CHECK, {}, frame(Uint8Array.of(0x0a, 0xff)))).toMatchObject({
      grpcStatus: 3,
    });
    session.destroy();
  });

  test("Watch of an unknown service reports it and continues", async () => {
    expect((await ask(WATCH, text(1, "nothing"))).get(1)?.[0]).toBe(3);
  });

  test("Watch reports changes, and ends when the server drains", async () => {
    const own = await startEchoServer({ options: { isReady: () => ready } });
    const client = new Client(own.target, credentials.createInsecure());
    const asIs = (bytes: Buffer) => bytes;
    const reported: number[] = [];
    ready = false;
    const watch = client.makeServerStreamRequest(WATCH, asIs, asIs, Buffer.alloc(0));
    watch.on("data", (data: Buffer) => reported.push(fields(data).get(1)?.[0] as number));
    const ended = new Promise<{ code: number }>((resolve) => watch.on("error", resolve as never));
    await expect.poll(() => reported, { message: "Watch has reported NOT_SERVING" }).toEqual([2]);
    ready = true;
    await expect.poll(() => reported, { message: "Watch has reported SERVING" }).toEqual([2, 1]);
    await own.server.drain();
    expect((await ended).code).toBe(14);
    expect(reported).toEqual([2, 1, 2]);
    client.close();
  });
});

test("a client's deadline may be longer than the maximum of timers", async () => {
  // Node makes such a timer fire at once, and warns of it.
  const warnings: string[] = [];
  const listener = ({ name }: Error) => warnings.push(name);
  process.on("warning", listener);
  const session = rawSession(echo.port);
  const path = "/grpc.health.v1.Health/Check";
  expect((await rawCall(session, path, { "grpc-timeout": "99999999H" })).grpcStatus).toBe(0);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", listener);
  session.destroy();
  expect(warnings).toEqual([]);
});
