/**
 * The public certification scenario of AuthZEN 1.0 for policy decision points: its levels Basic Core,
 * Batch Core and Discovery, by the numbers of its cases.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AS_HUB, type IamService, startIam } from "../../support/iam-service.ts";

const MODEL = readFileSync(new URL("../../../../../model/iam.zed", import.meta.url), "utf8");
const RECORDS = `
definition record {
	relation reader: user
	relation writer: user
	permission read = reader + writer
	permission write = writer
}
`;

const ALICE = { type: "user", id: "alice" };
const BOB = { type: "user", id: "bob" };
const READ = { name: "read" };
const WRITE = { name: "write" };
const FIRST = { type: "record", id: "record-1" };
const SECOND = { type: "record", id: "record-2" };

let iam: IamService;
beforeAll(async () => {
  const model = join(tmpdir(), `authzen-${process.pid}.zed`);
  writeFileSync(model, MODEL + RECORDS);
  iam = await startIam({
    authz: { model },
    iam: { services: { hub: { read_types: ["record"] } } },
  });
  await iam.options.engine?.writeRelationships({
    updates: [
      { resource: FIRST, relation: "writer", subject: ALICE },
      { resource: SECOND, relation: "reader", subject: ALICE },
      { resource: FIRST, relation: "reader", subject: BOB },
    ].map((relationship) => ({ operation: "TOUCH", relationship })),
  });
});
afterAll(() => iam.stop());

interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** JSON; undefined for a text. */
  readonly body: any;
}

async function send(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Sent> {
  const response = await fetch(`${iam.origin}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...AS_HUB, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

const one = (body: unknown, headers?: Readonly<Record<string, string>>) =>
  send("/access/v1/evaluation", body, headers);
const several = (body: unknown) => send("/access/v1/evaluations", body);
const decisions = async (body: unknown) => {
  const { status, body: answer } = await several(body);
  expect(status).toBe(200);
  return answer.evaluations.map(({ decision }: { decision: boolean }) => decision);
};

const FIXTURE = { subject: ALICE, action: READ, resource: FIRST };

describe("Basic Core [AZEN-1]", () => {
  test.each([
    ["2.2.1: a permit", FIXTURE, true],
    ["2.2.2: a denial", { subject: BOB, action: WRITE, resource: FIRST }, false],
    ["2.2.3: a context", { ...FIXTURE, context: { time: "2025-06-27T18:03-07:00" } }, true],
    [
      "2.2.8: properties",
      {
        subject: { ...ALICE, properties: { department: "Sales", role: "manager" } },
        action: { ...READ, properties: { method: "GET" } },
        resource: { ...FIRST, properties: { status: "active", owner: "bob" } },
      },
      true,
    ],
    ["2.2.9: unknown fields", { ...FIXTURE, foo: "bar", futureField: { nested: true } }, true],
    ["1.4: rule 2", { subject: ALICE, action: WRITE, resource: FIRST }, true],
    ["1.4: rule 3", { subject: BOB, action: READ, resource: FIRST }, true],
  ])("%s", async (_, body, decision) => {
    const answer = await one(body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.body).toEqual({ decision });
  });

  test.each([
    ["2.4.1: no subject", { action: READ, resource: FIRST }],
    ["2.4.1: no action", { subject: ALICE, resource: FIRST }],
    ["2.4.1: no resource", { subject: ALICE, action: READ }],
    ["2.4.2: a subject without type", { ...FIXTURE, subject: { id: "alice" } }],
    ["2.4.2: a subject without id", { ...FIXTURE, subject: { type: "user" } }],
    ["2.4.2: an action without name", { ...FIXTURE, action: {} }],
    ["2.4.2: a resource without type", { ...FIXTURE, resource: { id: "record-1" } }],
    ["2.4.2: a resource without id", { ...FIXTURE, resource: { type: "record" } }],
    ["2.4.4: malformed JSON", '{"subject": '],
    ["2.4.5: an empty body", ""],
    ["2.4.6: a subject that is a string", { ...FIXTURE, subject: "alice" }],
    ["2.4.6: a name that is a number", { ...FIXTURE, action: { name: 123 } }],
  ])("%s is refused", async (_, body) => {
    const { status, headers, text } = await one(body);
    expect(status).toBe(400);
    expect(headers.get("content-type")).toMatch(/^text\/plain/);
    expect(text).toMatch(/^[\x20-\x7e]+$/);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/json2", ""])(
    "2.4.3: the content type %j is refused",
    async (type) => {
      expect((await one(FIXTURE, { "Content-Type": type })).status).toBe(400);
    },
  );

  test.each(["bfe9eb29-ab87-4ca3-be83-a1d5d8305716", "an id of the caller, with {signs}"])(
    "2.5.1: the request id %j is sent back, with an error too",
    async (id) => {
      for (const body of [FIXTURE, {}]) {
        const { headers } = await one(body, { "X-Request-ID": id });
        expect(headers.get("x-request-id")).toBe(id);
      }
    },
  );

  test("2.5.2: without a request id there is one all the same", async () => {
    expect((await one(FIXTURE)).headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("2.6: the same question gets the same answer", async () => {
    for (let round = 0; round < 5; round++) {
      expect((await one(FIXTURE)).body).toEqual({ decision: true });
    }
  });
});

describe("Batch Core [AZEN-2]", () => {
  test("3.2.1: subject and action are shared", async () => {
    const evaluations = [{ resource: FIRST }, { resource: SECOND }];
    expect(await decisions({ subject: ALICE, action: READ, evaluations })).toEqual([true, true]);
  });

  test("3.2.2: decisions come in the order of the questions", async () => {
    const evaluations = [{ action: READ }, { action: WRITE }];
    expect(await decisions({ subject: BOB, resource: FIRST, evaluations })).toEqual([true, false]);
  });

  test("3.2.5: nothing is shared", async () => {
    const evaluations = [FIXTURE, { subject: BOB, action: WRITE, resource: FIRST }];
    expect(await decisions({ evaluations })).toEqual([true, false]);
  });

  test("3.2.6: a context is accepted in either place", async () => {
    const context = { time: "2025-06-27T18:03-07:00" };
    const evaluations = [{ resource: FIRST }, { resource: SECOND, context: { source: "own" } }];
    const body = { subject: ALICE, action: READ, context, evaluations };
    expect(await decisions(body)).toHaveLength(2);
  });

  test("3.2.7: an entity takes the identifiers that it lacks from the shared one", async () => {
    const evaluations = [{ resource: { id: "record-1" } }, { resource: SECOND }];
    const body = { subject: ALICE, action: WRITE, resource: { type: "record" }, evaluations };
    expect(await decisions(body)).toEqual([true, false]);
  });

  test("3.3: each has a decision, and the response has none", async () => {
    const { body } = await several({ ...FIXTURE, evaluations: [{}, {}, {}] });
    expect(body).toEqual({
      evaluations: [{ decision: true }, { decision: true }, { decision: true }],
    });
  });

  test("3.4.1: a question that lacks something is denied by itself", async () => {
    const evaluations = [{ resource: FIRST }, {}];
    const { status, body } = await several({ subject: ALICE, action: READ, evaluations });
    expect(status).toBe(200);
    expect(body.evaluations).toEqual([
      { decision: true },
      { decision: false, context: { error: { status: 400, message: "resource is missing" } } },
    ]);
  });

  test.each([
    ["3.4.2: without evaluations", FIXTURE],
    ["3.4.3: with no evaluation", { ...FIXTURE, evaluations: [] }],
  ])("%s it is one question", async (_, body) => {
    expect((await several(body)).body).toEqual({ decision: true });
  });
});

test("Discovery, 6: the metadata names the endpoints [AZEN-3]", async () => {
  const response = await fetch(`${iam.origin}/.well-known/authzen-configuration`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual({
    policy_decision_point: iam.origin,
    access_evaluation_endpoint: `${iam.origin}/access/v1/evaluation`,
    access_evaluations_endpoint: `${iam.origin}/access/v1/evaluations`,
  });
});

describe("the callers [AZEN-4]", () => {
  test.each([
    ["nobody", {}, 401],
    ["a wrong token", { "X-Svc-Internal-Token": "wrong" }, 401],
    ["a person", { "x-svc-auth-verified": "true", "x-svc-user-id": "alice" }, 403],
  ])("%s is refused", async (_, headers, status) => {
    for (const path of ["/access/v1/evaluation", "/access/v1/evaluations"]) {
      const response = await fetch(`${iam.origin}${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers } as Record<string, string>,
        body: JSON.stringify(FIXTURE),
      });
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
    }
  });

  test("a type that the service does not read is refused, and denied in a list", async () => {
    const resource = { type: "zone", id: "acme" };
    const zone = { ...FIXTURE, resource };
    expect(await one(zone)).toMatchObject({ status: 403 });
    const { body } = await several({ evaluations: [FIXTURE, zone] });
    expect(body.evaluations).toEqual([
      { decision: true },
      {
        decision: false,
        context: { error: { status: 403, message: 'the service does not read the type "zone"' } },
      },
    ]);
  });
});

/** A question whose rest the request has once, asked many times. */
const manyOf = (change: object) => ({ ...FIXTURE, ...change, evaluations: Array(600).fill({}) });

describe("hostile requests [AZEN-5]", () => {
  test.each([
    ["an unknown action", { ...FIXTURE, action: { name: "fly" } }],
    ["an id that is not valid", { ...FIXTURE, resource: { type: "record", id: "a#b" } }],
    ["all subjects", { ...FIXTURE, subject: { type: "user", id: "*" } }],
  ])("%s is denied, with the reason", async (_, body) => {
    const { status, body: answer } = await one(body);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ decision: false, context: { error: { status: 400 } } });
  });

  test.each([
    ["an array", []],
    ["null", null],
    ["evaluations that are an object", { ...FIXTURE, evaluations: {} }],
    ["too many evaluations", { ...FIXTURE, evaluations: Array(1001).fill({}) }],
    ["a shared subject that is a string", { subject: "alice", evaluations: [FIXTURE] }],
    ["an unknown semantic", { evaluations: [FIXTURE], options: { evaluations_semantic: "all" } }],
    ["a context that is a list", { ...FIXTURE, context: [] }],
    ["a shared action whose name is long", manyOf({ action: { name: "x".repeat(129) } })],
    ["a shared type that is long", manyOf({ subject: { type: "x".repeat(129), id: "x" } })],
    ["a shared id that is long", manyOf({ resource: { type: "record", id: "x".repeat(1025) } })],
  ])("%s is refused", async (_, body) => {
    const { status } = await several(body);
    expect(status).toBe(400);
  });

  test("an answer repeats no long text of its question", async () => {
    const long = { name: "x".repeat(128) };
    const own = { action: { name: "y".repeat(100_000) } };
    const { status, body } = await several({ ...FIXTURE, action: long, evaluations: [{}, own] });
    expect(status).toBe(200);
    expect(JSON.stringify(body).length).toBeLessThan(1000);
    expect(body.evaluations).toMatchObject([
      { decision: false, context: { error: { status: 400 } } },
      { context: { error: { message: "action.name must have at most 128 characters" } } },
    ]);
  });

  test("names of the prototype are names like others", async () => {
    const evaluations = [
      '{"subject":{"type":"__proto__","id":"a"},"action":{"name":"read"}}',
      '{"__proto__":{"subject":{"type":"user","id":"alice"}},"action":{"name":"read"}}',
      '{"subject":{"type":"user","id":"constructor"},"action":{"name":"constructor"}}',
    ];
    const shared = '"resource":{"type":"record","id":"record-1"}';
    const { body } = await several(`{${shared},"evaluations":[${evaluations}]}`);
    for (const { decision } of body.evaluations) expect(decision).toBe(false);
  });

  test("a body of more than a mebibyte is refused", async () => {
    const { status } = await one({ ...FIXTURE, context: { text: "a".repeat(1024 * 1024) } });
    expect(status).toBe(413);
  });

  test.each([
    ["deny_on_first_deny", [true, false]],
    ["permit_on_first_permit", [true]],
    ["execute_all", [true, false, true]],
  ])("%s ends where it says", async (semantic, expected) => {
    const evaluations = [{ action: READ }, { action: WRITE }, { action: READ }];
    const options = { evaluations_semantic: semantic };
    const body = { subject: BOB, resource: FIRST, evaluations, options };
    expect(await decisions(body)).toEqual(expected);
  });
});
