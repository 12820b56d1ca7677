import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AuditEventFilterSchema } from "../../../gen/svc/iam/v1/audit_pb.ts";
import { filterOf } from "../../../src/api/audit/event-filter.ts";
import { AS_HUB, asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { logInAt, withToken } from "../../support/log-in-at.ts";

const PATH = "/v1/iam/audit/events";
const ROOT = asUser("root");

let iam: IamService;
beforeAll(async () => {
  iam = await startIam();
  const resource = { type: "zone", id: "acme" };
  const grants = [
    ["owner", "root"],
    ["admin", "adam"],
    ["user_manager", "manager"],
    ["permission_admin", "permissions"],
  ] as const;
  await iam.options.engine?.writeRelationships({
    updates: grants.map(([relation, id]) => ({
      operation: "TOUCH",
      relationship: { resource, relation, subject: { type: "user", id } },
    })),
  });
  for (const name of ["alice", "bob", "carol"]) await createUser(name);
  await createUser("denied", asUser("nobody"));
});
afterAll(() => iam.stop());

function createUser(username: string, headers = ROOT) {
  const user = { username, displayName: username, email: `${username}@example.com` };
  return iam.call(
    "POST",
    "/v1/users",
    { ...user, password: "correct horse battery staple" },
    headers,
  );
}

const list = (query: string, headers = ROOT) =>
  iam.call("GET", `${PATH}${query}`, undefined, headers);
const open = (verb: string, query = "", signal?: AbortSignal) =>
  fetch(`${iam.origin}${PATH}:${verb}${query}`, { headers: ROOT, ...(signal && { signal }) });

/** The objects of a stream, as they come. */
async function* objects(response: Response): AsyncGenerator<any> {
  let rest = "";
  const text = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
  for await (const part of text) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
  if (rest !== "") throw new Error(`the stream ends in ${rest}`);
}

test.each([
  ["nobody", {}, 401],
  ["a user without a relation", asUser("nobody"), 403],
  ["a user manager", asUser("manager"), 403],
  ["a permission administrator", asUser("permissions"), 403],
  ["an owner by the headers of another organization", asUser("root", "evil"), 403],
  ["a service", AS_HUB, 403],
  ["an administrator", asUser("adam"), 200],
  ["an owner", ROOT, 200],
])("%s [IAM-21]", async (_, headers, status) => {
  for (const path of ["", ":export"]) {
    const response = await fetch(`${iam.origin}${PATH}${path}`, { headers });
    expect(response.status).toBe(status);
    await response.text();
  }
});

test("events are listed newest first, by filter and by pages [IAM-21]", async () => {
  const filter = "filter.type=iam.user.create&filter.decision=allowed";
  const first = await list(`?${filter}&page_size=2`);
  expect(first.status).toBe(200);
  const rest = await list(`?${filter}&page_size=2&page_token=${first.body.nextPageToken}`);
  const events = [...first.body.events, ...rest.body.events];
  expect(events).toHaveLength(3);
  expect(events.map(({ data }) => data.resource)).toEqual([
    ...new Set(events.map(({ data }) => data.resource)),
  ]);
  expect(events.map(({ time }) => time)).toEqual(
    events
      .map(({ time }) => time)
      .sort()
      .reverse(),
  );
  expect(events[0]).toMatchObject({
    specversion: "1.0",
    type: "iam.user.create",
    data: { principal: { type: "user", id: "root" }, decision: "allowed", risk_level: "HIGH" },
  });
  expect(rest.body.nextPageToken).toBe("");
  const ofNobody = "filter.principal_id=nobody&filter.type=iam.user.create";
  const denied = await list(`?filter.decision=denied&${ofNobody}`);
  expect(denied.body.events).toHaveLength(1);
  expect(JSON.stringify(events)).not.toContain("battery");
});

test.each([
  ["page_size=-1", "page_size"],
  ["page_size=501", "page_size"],
  ["page_token=unknown", "page_token is not one that this list returned for this filter"],
  ["filter.decision=maybe", "filter.decision must be one of allowed, denied, none"],
  ["filter.state=done", "filter.state must be one of pending, completed, unknown"],
  ["filter.risk_level=high", "filter.risk_level must be one of LOW, MEDIUM, HIGH, CRITICAL"],
  ["filter.riskLevel=high", "filter.risk_level must be one of LOW, MEDIUM, HIGH, CRITICAL"],
  [
    "filter.start_time=2026-02-02T00:00:00Z&filter.end_time=2026-02-01T00:00:00Z",
    "filter.start_time is later than filter.end_time",
  ],
  ...["start_time", "end_time"].flatMap((name) => [
    [`filter.${name}=0001-01-01T00:00:00Z`, `filter.${name} must not be before 1970-01-01T00:00`],
    [`filter.${name}=1969-12-31T23:59:59Z`, `filter.${name} must not be before 1970-01-01T00:00`],
    [`filter.${name}=yesterday`, `the parameter "filter.${name}" must be a time such as`],
  ]),
  ["filter.endTime=yesterday", 'the parameter "filter.endTime" must be a time such as'],
  ["filter.type=%00", "type"],
  [`filter.trace_id=${"x".repeat(513)}`, "filter.trace_id must have at most 512 characters"],
  ["filter.unknown=1", "unknown"],
])("%s is not a valid question, which is said in its own names", async (query = "", named = "") => {
  // Each caller has a rate of its own.
  const { status, body } = await list(`?${query}`, asUser("adam"));
  expect({ status, code: body.code }).toEqual({ status: 400, code: "INVALID_ARGUMENT" });
  expect(body.message).toContain(named);
});

test("an export and a follower refuse such a filter in the same words", async () => {
  for (const verb of ["export", "follow"]) {
    const response = await fetch(`${iam.origin}${PATH}:${verb}?filter.risk_level=high`, {
      headers: asUser("adam"),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      message: "filter.risk_level must be one of LOW, MEDIUM, HIGH, CRITICAL",
    });
  }
});

// JSON and queries have no such times; binary messages do.
test.each(["startTime", "endTime"] as const)(
  "the %s of a filter is before the year 10000",
  (name) => {
    const filter = create(AuditEventFilterSchema, { [name]: { seconds: 1n << 60n } });
    const field = name === "startTime" ? "start_time" : "end_time";
    expect(() => filterOf(filter)).toThrow(`filter.${field} must not be after the year 9999`);
  },
);

test.each(["filter.start_time=1970-01-01T00:00:00Z", `filter.trace_id=${"x".repeat(512)}`])(
  "%s is a valid question",
  async (query) => {
    expect((await list(`?${query}&page_size=1`)).status).toBe(200);
  },
);

test("a token of one filter is not valid for another", async () => {
  const { body } = await list("?filter.type=iam.user.create&page_size=1");
  const other = await list(`?filter.type=iam.user.delete&page_token=${body.nextPageToken}`);
  const message =
    "page_token is not one that this list returned for this filter: list again from the first page";
  expect(other).toMatchObject({ status: 400, body: { code: "INVALID_ARGUMENT", message } });
});

test("an export has all of them, a JSON object on each line, the oldest first [IAM-21]", async () => {
  const response = await open("export", "?filter.type=iam.user.create&filter.decision=allowed");
  expect(response.headers.get("content-type")).toMatch(/ndjson/);
  const events: any[] = [];
  for await (const event of objects(response)) events.push(event);
  expect(events).toHaveLength(3);
  expect(events.map(({ time }) => time)).toEqual(events.map(({ time }) => time).sort());
});

/** Records events until a response arrives: its head comes with the first event that is followed. */
async function recordUntil<Value>(
  arriving: Promise<Value>,
  event: string,
  service = iam,
): Promise<Value> {
  let hasArrived = false;
  const arrived = arriving.finally(() => {
    hasArrived = true;
  });
  while (!hasArrived) {
    await service.options.auditRecorder?.record({ event, riskLevel: "LOW" });
    await setImmediate();
  }
  return arrived;
}

test("a follower gets what is stored from then on, and continues after its position [IAM-21]", async () => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const response = await recordUntil(
    open("follow", "?filter.type=test.first", signal),
    "test.first",
  );
  const { value: first } = await objects(response).next();
  expect(first.event).toMatchObject({ specversion: "1.0", type: "test.first" });
  leaving.abort();

  await iam.options.auditRecorder?.record({ event: "test.second", riskLevel: "LOW" });
  const position = encodeURIComponent(first.position);
  const again = await open("follow", `?filter.type=test.second&position=${position}`);
  const { value: second } = await objects(again).next();
  expect(second.event).toMatchObject({ type: "test.second" });
  await again.body?.cancel().catch(() => undefined);
});

type Headers = Readonly<Record<string, string>>;
const administrate = (operation: "TOUCH" | "DELETE", id: string, relation = "admin") =>
  iam.options.engine?.writeRelationships({
    updates: [
      {
        operation,
        relationship: {
          resource: { type: "zone", id: "acme" },
          relation,
          subject: { type: "user", id },
        },
      },
    ],
  });

test.each([
  ["the right is lost", (id: string) => administrate("DELETE", id), "FORBIDDEN"],
  [
    "the user is disabled",
    (id: string, by: Headers) => iam.call("POST", `/v1/users/${id}:disable`, {}, by),
    "UNAUTHORIZED",
  ],
  [
    "the user is deleted",
    (id: string, by: Headers) => iam.call("DELETE", `/v1/users/${id}`, undefined, by),
    "UNAUTHORIZED, FORBIDDEN",
  ],
] as const)("a follower gets no more once %s [IAM-21]", async (what, lose, code) => {
  const { body } = await createUser(`follower-${what.replaceAll(" ", "-")}`);
  const { id } = body;
  await administrate("TOUCH", id);
  const owner = await createUser(
    `owner-${code.toLowerCase().replace(", ", "-")}-${id.slice(0, 8)}`,
  );
  await administrate("TOUCH", owner.body.id, "owner");
  const response = await fetch(`${iam.origin}${PATH}:follow?position_of_start=true`, {
    headers: asUser(id),
  });
  const found = objects(response);
  expect((await found.next()).value.position).toBeTypeOf("string");
  expect(await lose(id, asUser(owner.body.id))).not.toMatchObject({ status: 403 });
  let last: any;
  for await (const object of found) last = object;
  // A user who is deleted is disabled first, and then loses all rights.
  expect(code.split(", ")).toContain(last.error.code);
});

test("a follower gets no more once its access token is revoked, and nothing else [IAM-21]", async () => {
  const { body } = await createUser("follower-with-token");
  await administrate("TOUCH", body.id);
  const tokens = await logInAt(iam, body.username, "correct horse battery staple");
  const response = await fetch(`${iam.origin}${PATH}:follow?position_of_start=true`, {
    headers: withToken(tokens),
  });
  const found = objects(response);
  expect((await found.next()).value.position).toBeTypeOf("string");
  const revocation = { token: tokens.accessToken, kind: "TOKEN_KIND_ACCESS" };
  const { status } = await iam.call("POST", "/v1/iam/tokens:revoke", revocation, AS_HUB);
  expect(status).toBe(200);
  let last: any;
  for await (const object of found) last = object;
  expect(last.error.code).toBe("UNAUTHORIZED");
});

test("a follower does not hold up the end of the service", async () => {
  const other = await startIam();
  const resource = { type: "zone", id: "acme" };
  const subject = { type: "user", id: "root" };
  await other.options.engine?.writeRelationships({
    updates: [{ operation: "TOUCH", relationship: { resource, relation: "owner", subject } }],
  });
  const following = fetch(`${other.origin}${PATH}:follow`, { headers: ROOT });
  const response = await recordUntil(following, "test.third", other);
  await other.stop();
  expect(await response.text()).toContain("test.third");
});
