/** Every RPC of svc-iam by clients that nobody here wrote: they get the same answers and refusals. */

import type { DescMethod } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpRoute } from "../../../../test/support/curl.ts";
import { columnsOf } from "../../../../test/support/effort.ts";
import { isAbsent } from "../../../../test/support/run-program.ts";
import allRoutes from "../../gen/routes/iam.json" with { type: "json" };
import { type IamService, INTERNAL_TOKEN, startIam } from "../support/iam-service.ts";
import { BufCurlClient } from "./buf-curl-client.ts";
import { ConnectClient } from "./connect-client.ts";
import { CurlClient } from "./curl-client.ts";
import { GrpcJsClient } from "./grpc-js-client.ts";
import { ROWS, type Row } from "./rows.ts";
import type { RpcClient } from "./rpc-client.ts";
import { Scene, SYSTEM_TOKEN } from "./scene.ts";

const ROUTES = new Map<string, readonly HttpRoute[]>(
  allRoutes.routes.map(({ entry }) => [entry.rpc, entry.http]),
);
const EXPOSURES = new Map(allRoutes.routes.map(({ entry }) => [entry.rpc, entry.exposure]));
const HAS_CURL = !isAbsent("curl");

let iam: IamService;
let methods: ReadonlyMap<string, DescMethod>;
/** The first one is compared with. */
let clients: readonly RpcClient[];

beforeAll(async () => {
  iam = await startIam({
    authn: {
      internal_call: {
        enabled: true,
        token: [{ service: "hub", token: INTERNAL_TOKEN }],
        system_token: SYSTEM_TOKEN,
      },
    },
    iam: {
      services: {
        hub: { may_exchange_tokens: true, read_types: ["*"], write_types: ["project"] },
      },
    },
  });
  methods = new Map(
    iam.options.bindings.flatMap(({ service }) =>
      service.methods.map((method) => [`${service.typeName}/${method.name}`, method] as const),
    ),
  );
  clients = [
    new GrpcJsClient(iam.grpcTarget),
    new ConnectClient(iam.origin, "1.1"),
    new ConnectClient(iam.origin, "2"),
    ...(HAS_CURL ? [new CurlClient(iam.origin, ROUTES)] : []),
    new BufCurlClient(iam.origin),
  ];
});
afterAll(async () => {
  for (const client of clients) client.close?.();
  await iam.stop();
});

test("the table has every RPC that svc-iam serves, and no other", () => {
  expect([...ROWS.keys()].sort()).toEqual([...methods.keys()].sort());
  expect([...ROUTES.keys()].sort()).toEqual([...methods.keys()].sort());
});

/** A call by one client, without what differs from call to call. */
async function answerOf(rpc: string, row: Row, client: RpcClient, isAllowed: boolean) {
  const scene = new Scene(iam);
  const request = await row.request(scene);
  const headers = isAllowed ? await scene.headers(row.as) : {};
  const method = methods.get(rpc) as DescMethod;
  const { isLast, stir } = row;
  let isOver = false;
  const call = client.call({ method, request: structuredClone(request), headers, isLast });
  const over = () => {
    isOver = true;
  };
  call.then(over, over);
  if (isAllowed && stir !== undefined) {
    const message = `a message of ${rpc} comes`;
    const stirred = () => stir(scene).then(() => isOver);
    await expect.poll(stirred, { message, interval: 50 }).toBe(true);
  }
  const { code, messages } = await call;
  const compared = row.isShared === true ? new Scene(iam) : scene;
  return { code, messages: compared.comparable(messages) };
}

const table = [...ROWS].map(([rpc, row], index) => ({ rpc, row, index }));

test.each(table)("$rpc is answered to every client alike", async ({ rpc, row, index }) => {
  const [first, ...others] = clients as [RpcClient, ...RpcClient[]];
  const expected = await answerOf(rpc, row, first, true);
  expect(expected.code).toBe("ok");
  expect(expected.messages).not.toEqual([]);
  for (const client of columnsOf(others, index, others.length)) {
    expect(await answerOf(rpc, row, client, true), client.name).toEqual(expected);
  }
});

test.each(table)("$rpc is refused without credentials, unless it is PUBLIC", async (of) => {
  const { rpc, row, index } = of;
  const isPublic = EXPOSURES.get(rpc) === "PUBLIC";
  expect(row.as === "nobody").toBe(isPublic);
  for (const client of columnsOf(clients, index, clients.length)) {
    const { code, messages } = await answerOf(rpc, row, client, false);
    expect(code, client.name).toBe(isPublic ? "ok" : "unauthenticated");
    if (!isPublic) expect(messages, client.name).toEqual([]);
  }
});
