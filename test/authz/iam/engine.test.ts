/** The engine over an IAM that answers what a test wants. */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Change } from "../../../src/authz/engine/requests.ts";
import { createIamEngine, type PermissionCalls } from "../../../src/authz/iam/index.ts";
import { RelationshipOperation } from "../../../src/gen/proto/svc/iam/v1/permission_pb.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { modelOf, request, SCHEMA, updates } from "../contract/schema.ts";

afterEach(() => void vi.useRealTimers());

const SERVER = {
  name: "IAM",
  address: "iam:19080",
  keys: {
    endpoint: "iam.endpoint",
    insecure: "iam.insecure",
    token: "iam.token",
    ca: "iam.ca_file",
  },
};

/** An engine over calls that are answered with plain objects. */
function engineOver(calls: Record<string, unknown>) {
  const close = async () => undefined;
  return createIamEngine({
    model: modelOf(SCHEMA),
    calls: { close, ...calls } as unknown as PermissionCalls,
    server: SERVER,
  });
}

const CHECK = request("document:a#view@user:x");
const bulk = (count: number) => Array.from({ length: count }, () => CHECK);
interface Sent {
  readonly checks: readonly unknown[];
  readonly consistency?: {
    readonly besideRevision?: string;
    readonly requirement: { readonly case: string; readonly value: unknown };
  };
}
const decisions = ({ checks }: Sent, revision: string) => ({
  revision,
  results: checks.map(() => ({ result: { case: "allowed", value: true } })),
});

describe("a bulk check", () => {
  test("of several parts is of one revision, or is made again", async () => {
    const sizes: number[] = [];
    const revisions = ["one", "two", "two", "two"];
    const engine = engineOver({
      checkBulkPermissions: async (sent: Sent) => {
        sizes.push(sent.checks.length);
        return decisions(sent, revisions.shift() ?? "");
      },
    });
    const { items, revision } = await engine.checkBulk(bulk(3000));
    expect([items.length, revision]).toEqual([3000, "two"]);
    expect(sizes).toEqual([2000, 1000, 2000, 1000]);
  });

  test("that writes interrupt again and again is UNAVAILABLE, and never mixed", async () => {
    let count = 0;
    const engine = engineOver({
      checkBulkPermissions: async (sent: Sent) => decisions(sent, `r${count++}`),
    });
    await expect(engine.checkBulk(bulk(3000))).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(count).toBe(8);
  });

  test.each([
    ["fewer results", { revision: "r", results: [] }],
    ["more results", { revision: "r", results: [{}, {}] }],
  ])("with %s than checks is a defect, and no decision", async (_, answer) => {
    const engine = engineOver({ checkBulkPermissions: async () => answer });
    await expect(engine.checkBulk(bulk(1))).rejects.toMatchObject({ code: "INTERNAL" });
  });

  test("without a decision is an error in its place", async () => {
    const results = [{ result: { case: undefined } }];
    const engine = engineOver({ checkBulkPermissions: async () => ({ revision: "r", results }) });
    const { items } = await engine.checkBulk(bulk(1));
    expect(items[0]?.error).toMatchObject({ code: "INTERNAL" });
  });
});

describe("an explanation", () => {
  const resource = { type: "document", id: "a" };
  const step = { resource, permission: "view", allowed: true, kind: "union", parent: 0 };
  test.each([
    ["no steps", []],
    ["a step of an unknown kind", [{ ...step, kind: "magic" }]],
    ["a step without an object", [{ ...step, resource: undefined }]],
    ["a step of one that comes later", [step, { ...step, parent: 2 }, step]],
    ["a step of itself", [step, { ...step, parent: 1 }]],
    ["half a relationship", [{ ...step, relationship: { resource } }]],
  ])("with %s is a defect", async (_, steps) => {
    const engine = engineOver({
      explainPermission: async () => ({ allowed: true, revision: "r", steps }),
    });
    await expect(engine.explain(CHECK)).rejects.toMatchObject({ code: "INTERNAL" });
  });
});

describe("after a restore of IAM", () => {
  const lost = () =>
    new ServiceError("INVALID_ARGUMENT", "the revision token belongs to another store");
  test("checks see the restored state, since nobody else knows the lost one", async () => {
    const asked: unknown[] = [];
    const engine = engineOver({
      writeRelationships: async () => ({ revision: "lost" }),
      checkPermission: async ({ consistency }: Sent) => {
        asked.push(consistency?.requirement.value);
        const named = consistency?.besideRevision ?? consistency?.requirement.value;
        if (named === "lost") throw lost();
        return { allowed: false, revision: "restored" };
      },
    });
    await engine.writeRelationships({ updates: updates("TOUCH", "document:a#viewer@user:x") });
    expect(await engine.check(CHECK)).toEqual({ allowed: false, revision: "restored" });
    await engine.check(CHECK);
    expect(asked).toEqual(["lost", true, "restored"]);
    // Who gives it learns that it is lost.
    const given = engine.check(CHECK, { atLeastAsFresh: "lost" });
    await expect(given).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("a revision that the caller gives is refused", async () => {
    const engine = engineOver({
      checkPermission: async () => {
        throw lost();
      },
    });
    await expect(engine.check(CHECK, { atLeastAsFresh: "lost" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});

describe("readiness", () => {
  test.each<[string, () => Promise<unknown>, unknown]>([
    ["the same model", async () => ({ model: SCHEMA }), { ready: true }],
    [
      "the model of all services",
      async () => ({ model: `${SCHEMA}\ndefinition other {\n  relation owner: user\n}` }),
      { ready: true },
    ],
    [
      "a model that lacks a type",
      async () => ({ model: "definition user {}" }),
      {
        ready: false,
        reason: expect.stringMatching(/does not contain the service's model: .*team.*model merge/s),
      },
    ],
    [
      "a model that is not valid",
      async () => ({ model: "definition" }),
      { ready: false, reason: expect.stringContaining("the model of IAM is not valid here") },
    ],
    [
      "a refusal",
      async () => {
        throw new ServiceError("FORBIDDEN", "iam.services.hub is missing");
      },
      {
        ready: false,
        reason: expect.stringMatching(
          /^IAM at iam:19080 refuses this service: check its entry in iam\.services of IAM/,
        ),
      },
    ],
    [
      "nobody",
      async () => {
        throw new ServiceError("UNAVAILABLE");
      },
      {
        ready: false,
        reason: "IAM at iam:19080 cannot be reached: check that it runs, and iam.endpoint",
      },
    ],
    [
      "another server",
      async () => {
        throw new ServiceError("UNIMPLEMENTED", "unknown service svc.iam.v1.IAMPermissionService");
      },
      { ready: false, reason: "what answers at iam:19080 is not IAM: correct iam.endpoint" },
    ],
    [
      "a defect",
      async () => {
        throw new TypeError("secret");
      },
      {
        ready: false,
        reason: "IAM at iam:19080 fails (INTERNAL): look at its log and at that of this service",
      },
    ],
  ])("of %s", async (_, getModel, expected) => {
    expect(await engineOver({ getModel }).ready()).toEqual(expected);
  });
});

test("readiness ends with the signal of whoever asks, and says who is silent", async () => {
  const asked = new AbortController();
  const getModel = (_: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      asked.abort(new DOMException("late", "TimeoutError"));
    });
  expect(await engineOver({ getModel }).ready({ signal: asked.signal })).toEqual({
    ready: false,
    reason: "IAM at iam:19080 does not answer: check that it runs, the network, and iam.endpoint",
  });
});

test("a call ends after five seconds without an answer", async () => {
  vi.useFakeTimers();
  const never = (_: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const late = engineOver({ checkPermission: never }).check(CHECK);
  const ended = expect(late).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  await vi.advanceTimersByTimeAsync(5000);
  await ended;
});

test("relationships of types that the service's model does not have are not shown", async () => {
  const ofType = (type: string) => ({
    resource: { type, id: "a" },
    relation: "owner",
    subject: { type: "user", id: "x", relation: "" },
  });
  const relationships = ["team", "zone"].map(ofType);
  const engine = engineOver({
    readRelationships: async () => ({ relationships, nextPageToken: "next", revision: "r" }),
  });
  const page = await engine.readRelationships({});
  expect(page.items.map(({ resource }) => resource.type)).toEqual(["team"]);
  expect(page.nextCursor).toBe("next");
});

describe("a watch", () => {
  const change = (revision: string, type = "document") => ({
    revision,
    updates: [
      {
        operation: RelationshipOperation.TOUCH,
        relationship: {
          resource: { type, id: revision },
          relation: "viewer",
          subject: { type: "user", id: "x", relation: "" },
        },
      },
    ],
  });
  const silence = { revision: "", updates: [] };
  const take = async (changes: AsyncIterable<Change>, count: number) => {
    const seen: string[] = [];
    for await (const { revision } of changes) {
      seen.push(revision);
      if (seen.length === count) break;
    }
    return seen;
  };

  test("continues after the last change when IAM ends its stream", async () => {
    const from: unknown[] = [];
    const skipped = { revision: "r4", updates: [] };
    const streams = [
      [silence, change("r1"), change("r2", "zone")],
      [silence, skipped, silence],
      [change("r5")],
    ];
    const engine = engineOver({
      async *watchRelationships(sent: { fromRevision: string }) {
        from.push(sent.fromRevision);
        yield* streams.shift() ?? [];
        if (from.length === 1) throw new ServiceError("DEADLINE_EXCEEDED");
      },
    });
    expect(await take(engine.watch("r0"), 2)).toEqual(["r1", "r5"]);
    // Changes that the service may not read have a revision, too.
    expect(from).toEqual(["r0", "r2", "r4"]);
  });

  test("without a revision begins at the newest state of the time of the call", async () => {
    const asked: unknown[] = [];
    const engine = engineOver({
      checkBulkPermissions: async (sent: Sent) => {
        asked.push(sent.consistency?.requirement);
        return { revision: "head", results: [] };
      },
      async *watchRelationships(sent: { fromRevision: string }) {
        asked.push(sent.fromRevision);
        yield change("r1");
      },
    });
    const changes = engine.watch();
    await vi.waitFor(() => expect(asked).toEqual([{ case: "fullyConsistent", value: true }]));
    expect(await take(changes, 1)).toEqual(["r1"]);
    expect(asked[1]).toBe("head");
  });

  test.each([
    ["UNAVAILABLE", new ServiceError("UNAVAILABLE"), "UNAVAILABLE"],
    [
      "a revision that is no longer kept",
      ServiceError.of(400, "OUT_OF_RANGE", "gone", { grpcStatus: 11 }),
      "OUT_OF_RANGE",
    ],
  ])("ends with %s", async (_, thrown, code) => {
    const engine = engineOver({
      async *watchRelationships() {
        yield silence;
        throw thrown;
      },
    });
    await expect(take(engine.watch("r0"), 1)).rejects.toMatchObject({ code });
  });

  test("ends with UNAVAILABLE when IAM is silent for ten seconds", async () => {
    vi.useFakeTimers();
    const engine = engineOver({
      async *watchRelationships(_: unknown, { signal }: { signal: AbortSignal }) {
        yield silence;
        await new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(new Error("aborted"))),
        );
      },
    });
    const ended = expect(take(engine.watch("r0"), 1)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "IAM at iam:19080 gave no response during the watch",
    });
    await vi.advanceTimersByTimeAsync(10_000);
    await ended;
    expect(vi.getTimerCount()).toBe(0);
  });

  test("does not count the time in which its caller is busy as silence", async () => {
    vi.useFakeTimers();
    const engine = engineOver({
      async *watchRelationships() {
        yield change("r1");
        yield change("r2");
      },
    });
    const changes = engine.watch("r0")[Symbol.asyncIterator]();
    await changes.next();
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await changes.next()).value).toMatchObject({ revision: "r2" });
    await changes.return?.();
  });
});
