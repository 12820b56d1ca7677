/** IAMPermissionService of a whole svc-iam, over gRPC: who may call it, and what it answers. */
import type { AuditEvent } from "svc-access/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RelationshipOperation } from "../../../gen/svc/iam/v1/permission_pb.ts";
import { PreconditionOperation, WriteMode } from "../../../gen/svc/iam/v1/relationship_pb.ts";
import {
  type IamWithServices,
  type PermissionClient,
  relationship,
  startWithServices,
  store,
} from "../../support/permissions.ts";
import { IS_PRODUCTION_STACK } from "../../support/stack.ts";

const { TOUCH, CREATE, DELETE } = RelationshipOperation;
const { MUST_MATCH, MUST_NOT_MATCH } = PreconditionOperation;
const alice = { type: "user", id: "alice" };
const project = (id: string) => ({ type: "project", id });
const touch = (text: string) => ({ operation: TOUCH, relationship: relationship(text) });

let it: IamWithServices;
beforeAll(async () => {
  it = await startWithServices();
});
afterAll(() => it.stop());

/** A call about a type, in each form. */
const CALLS: Readonly<
  Record<string, (client: PermissionClient, type: string) => Promise<unknown>>
> = {
  checkPermission: (client, type) =>
    client.checkPermission({ resource: { type, id: "a" }, permission: "owner", subject: alice }),
  checkBulkPermissions: (client, type) =>
    client.checkBulkPermissions({
      checks: [
        { resource: project("a"), permission: "owner", subject: alice },
        { resource: { type, id: "a" }, permission: "owner", subject: alice },
      ],
    }),
  checkAnyPermission: (client, type) =>
    client.checkAnyPermission({ resourceType: type, permission: "owner", subject: alice }),
  explainPermission: (client, type) =>
    client.explainPermission({ resource: { type, id: "a" }, permission: "owner", subject: alice }),
  lookupResources: (client, type) =>
    client.lookupResources({ resourceType: type, permission: "owner", subject: alice }),
  lookupSubjects: (client, type) =>
    client.lookupSubjects({
      resource: { type, id: "a" },
      permission: "owner",
      subjectType: "user",
    }),
  readRelationships: (client, type) => client.readRelationships({ filter: { resourceType: type } }),
};
const WRITES: typeof CALLS = {
  writeRelationship: (client, type) =>
    client.writeRelationship({ relationship: relationship(`${type}:a#owner@user:alice`) }),
  deleteRelationship: (client, type) =>
    client.deleteRelationship({ relationship: relationship(`${type}:a#owner@user:alice`) }),
  writeRelationships: (client, type) =>
    client.writeRelationships({
      updates: [touch("project:a#viewer@user:alice"), touch(`${type}:a#owner@user:alice`)],
    }),
};

describe("a service is refused [IAM-5]", () => {
  test.each(Object.entries({ ...CALLS, ...WRITES }))("without an entry: %s", async (_, call) => {
    await expect(call(it.as("stranger"), "project")).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringContaining("iam.services.stranger is missing"),
    });
  });

  test.each(Object.entries(CALLS))("for a type that it does not read: %s", async (_, call) => {
    await call(it.as("reader"), "project");
    for (const type of ["zone", "skill", "nonsense"]) {
      await expect(call(it.as("reader"), type), type).rejects.toMatchObject({
        code: "FORBIDDEN",
        message: expect.stringContaining(`iam.services.reader.read_types does not have ${type}`),
      });
    }
    // What it writes, it does not read for that reason.
    await expect(call(it.as("writer"), "project")).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  test.each(Object.entries(WRITES))("for a type that it does not write: %s", async (_, call) => {
    const add = "iam.services.hub.write_types does not have skill_space: add it if";
    const never = (type: string) =>
      `services never write relationships of ${type}: users do, with IAMAuthorizationService`;
    for (const [type, message] of [
      ["skill_space", add],
      // The configuration refuses these, so no message advises to add them.
      ["zone", never("zone")],
      ["group", never("group")],
    ] as const) {
      await expect(call(it.as("hub"), type), type).rejects.toMatchObject({
        code: "FORBIDDEN",
        message: expect.stringContaining(message),
      });
    }
    await expect(call(it.as("reader"), "project")).rejects.toMatchObject({ code: "FORBIDDEN" });
    const { items } = await it.engine.readRelationships({ resourceId: "a" });
    expect(items).toEqual([]);
  });

  test("for relationships of all types, unless it reads all", async () => {
    for (const filter of [undefined, {}, { resourceId: "a" }, { subjectType: "user" }]) {
      const request = filter === undefined ? {} : { filter };
      await expect(it.as("reader").readRelationships(request)).rejects.toMatchObject({
        code: "FORBIDDEN",
        message: expect.stringContaining('does not have "*"'),
      });
      await it.as("hub").readRelationships(request);
    }
  });

  test("for a precondition about what it neither reads nor writes", async () => {
    const written = { relationship: relationship("project:pre#owner@user:bob") };
    for (const filter of [{ resourceType: "skill", resourceId: "a" }, { resourceId: "a" }]) {
      const preconditions = [{ operation: MUST_NOT_MATCH, filter }];
      await expect(
        it.as("writer").writeRelationship({ ...written, preconditions }),
      ).rejects.toMatchObject({ code: "FORBIDDEN" });
    }
    const filter = { resourceType: "project", resourceId: "pre" };
    const preconditions = [{ operation: MUST_NOT_MATCH, filter }];
    await it.as("writer").writeRelationship({ ...written, preconditions });
  });

  test.each([
    ["stranger", "iam.services.stranger is missing"],
    ["writer", "iam.services.writer.read_types is empty"],
  ] as const)("for a watch of the %s, which reads nothing", async (service, message) => {
    const news = it.as(service).watchRelationships({})[Symbol.asyncIterator]().next();
    await expect(news).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringContaining(message),
    });
  });

  test("that is nobody", async () => {
    const query =
      "resource.type=zone&resource.id=a&permission=owner&subject.type=user&subject.id=a";
    const { status } = await it.iam.call("GET", `/v1/iam/permissions:check?${query}`);
    expect(status).toBe(401);
  });
});

describe("a request that is not valid is refused", () => {
  const filter = { resourceType: "project" };
  const check = { resource: project("a"), permission: "read", subject: alice };
  test.each<[string, RegExp, (client: PermissionClient) => Promise<unknown>]>([
    ["no resource", /resource is required/, (hub) => hub.checkPermission({ subject: alice })],
    [
      "no subject",
      /subject is required/,
      (hub) => hub.checkPermission({ ...check, subject: undefined as never }),
    ],
    [
      "two relations of a subject",
      /relation must be empty/,
      (hub) =>
        hub.checkPermission({
          ...check,
          subject: { type: "group#member", id: "a", relation: "member" },
        }),
    ],
    [
      "an unknown permission",
      /nothing/,
      (hub) => hub.checkPermission({ ...check, permission: "nothing" }),
    ],
    [
      "too many checks",
      /at most 2000 checks/,
      (hub) => hub.checkBulkPermissions({ checks: Array.from({ length: 2001 }, () => check) }),
    ],
    [
      "an empty revision",
      /revision token is malformed/,
      (hub) =>
        hub.checkPermission({
          ...check,
          consistency: { requirement: { case: "atLeastAsFresh", value: "" } },
        }),
    ],
    [
      "a revision of another store beside fully_consistent",
      /revision token is malformed/,
      (hub) =>
        hub.checkPermission({
          ...check,
          consistency: {
            requirement: { case: "fullyConsistent", value: true },
            besideRevision: "x",
          },
        }),
    ],
    [
      "a revision beside nothing",
      /beside_revision needs fully_consistent/,
      (hub) => hub.checkPermission({ ...check, consistency: { besideRevision: "x" } }),
    ],
    [
      "a revision beside another one",
      /name the revision as at_least_as_fresh/,
      (hub) =>
        hub.checkBulkPermissions({
          checks: [check],
          consistency: {
            requirement: { case: "atLeastAsFresh", value: "x" },
            besideRevision: "x",
          },
        }),
    ],
    ["no updates", /at least one update/, (hub) => hub.writeRelationships({})],
    [
      "too many updates",
      /at most 1000 updates/,
      (hub) =>
        hub.writeRelationships({
          updates: Array.from({ length: 1001 }, () => touch("project:a#owner@user:a")),
        }),
    ],
    [
      "no operation",
      /CREATE, TOUCH or DELETE/,
      (hub) =>
        hub.writeRelationships({
          updates: [{ relationship: relationship("project:a#owner@user:a") }],
        }),
    ],
    [
      "an unknown operation",
      /CREATE, TOUCH or DELETE/,
      (hub) =>
        hub.writeRelationships({
          updates: [{ ...touch("project:a#owner@user:a"), operation: 9 as never }],
        }),
    ],
    ["no relationship", /relationship is required/, (hub) => hub.writeRelationship({})],
    [
      "an unknown mode",
      /mode 9 is not known/,
      (hub) =>
        hub.writeRelationship({
          relationship: relationship("project:a#owner@user:a"),
          mode: 9 as never,
        }),
    ],
    [
      "no operation of a precondition",
      /MUST_MATCH or MUST_NOT_MATCH/,
      (hub) =>
        hub.writeRelationship({
          relationship: relationship("project:a#owner@user:a"),
          preconditions: [{ filter }],
        }),
    ],
    [
      "an empty precondition",
      /precondition is empty/,
      (hub) =>
        hub.writeRelationship({
          relationship: relationship("project:a#owner@user:a"),
          preconditions: [{ operation: MUST_MATCH }],
        }),
    ],
    [
      "too many preconditions",
      /at most 1000 preconditions/,
      (hub) =>
        hub.writeRelationship({
          relationship: relationship("project:a#owner@user:a"),
          preconditions: Array.from({ length: 1001 }, () => ({ operation: MUST_MATCH, filter })),
        }),
    ],
    [
      "a wildcard where none is allowed",
      /does not allow this subject/,
      (hub) => hub.writeRelationship({ relationship: relationship("project:a#owner@user:*") }),
    ],
    [
      "a page that is too large",
      /a page has 1 to 1000/,
      (hub) => hub.readRelationships({ filter, pageSize: 1001 }),
    ],
    [
      "a page of any relationships that is not the first",
      /page_token must be empty/,
      (hub) => hub.readRelationships({ filter, any: true, pageToken: "x" }),
    ],
    [
      "a page token that nobody gave",
      /^page_token is malformed: list again from the first page$/,
      (hub) =>
        hub.lookupResources({
          resourceType: "project",
          permission: "read",
          subject: alice,
          pageToken: "x",
        }),
    ],
    [
      "a page token of another list",
      /^page_token belongs to another request: list again from the first page$/,
      async (hub) => {
        await hub.writeRelationships({
          updates: ["a", "b"].map((id) => touch(`project:pages#viewer@user:${id}`)),
        });
        const pages = { resourceType: "project", resourceId: "pages" };
        const { nextPageToken } = await hub.readRelationships({ filter: pages, pageSize: 1 });
        return hub.readRelationships({ filter, pageSize: 1, pageToken: nextPageToken });
      },
    ],
    [
      "a subject id without its type",
      /subject_type is required/,
      (hub) => hub.readRelationships({ filter: { ...filter, subjectId: "a" } }),
    ],
    [
      "a filter that contradicts itself",
      /subject_relation must be empty/,
      (hub) =>
        hub.readRelationships({
          filter: {
            ...filter,
            subjectType: "group",
            subjectRelation: "member",
            withoutSubjectRelation: true,
          },
        }),
    ],
  ])("%s", async (_, message, call) => {
    await expect(call(it.as("hub"))).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(message),
    });
  });
});

describe("a service", () => {
  test("writes, checks, lists and deletes relationships of its types", async () => {
    const hub = it.as("hub");
    const owner = relationship("project:p1#owner@user:alice");
    const { revision } = await hub.writeRelationships({
      updates: [
        touch("project:p1#parent@organization:o1"),
        { operation: CREATE, relationship: owner },
      ],
      preconditions: [
        { operation: MUST_NOT_MATCH, filter: { resourceType: "project", resourceId: "p1" } },
      ],
    });
    const consistency = { requirement: { case: "atLeastAsFresh", value: revision } } as const;
    const check = { resource: project("p1"), permission: "read", subject: alice };
    expect(await hub.checkPermission({ ...check, consistency })).toMatchObject({ allowed: true });
    expect(
      await hub.checkPermission({
        ...check,
        consistency: { requirement: { case: "fullyConsistent", value: true } },
      }),
    ).toMatchObject({
      allowed: true,
      // SpiceDB names the time of the check.
      revision: IS_PRODUCTION_STACK ? expect.any(String) : revision,
    });
    const { results } = await hub.checkBulkPermissions({
      checks: [check, { ...check, permission: "nothing" }, { ...check, resource: project("p2") }],
    });
    expect(results.map(({ result }) => result)).toEqual([
      { case: "allowed", value: true },
      {
        case: "error",
        value: expect.objectContaining({
          code: "INVALID_ARGUMENT",
          message: expect.stringContaining("nothing"),
        }),
      },
      { case: "allowed", value: false },
    ]);
    const any = { resourceType: "project", permission: "read", subject: alice };
    expect(await hub.checkAnyPermission(any)).toMatchObject({ allowed: true });
    expect((await hub.lookupResources(any)).resourceIds).toEqual(["p1"]);
    const found = await hub.lookupSubjects({ ...check, subjectType: "user" });
    expect(found.subjects).toMatchObject([{ subjectId: "alice", excludedSubjectIds: [] }]);
    await expect(
      hub.writeRelationship({ relationship: owner, mode: WriteMode.CREATE }),
    ).rejects.toMatchObject({ code: "ALREADY_EXISTS", status: 409 });
    await hub.deleteRelationship({ relationship: owner });
    await hub.writeRelationships({
      updates: [
        { operation: DELETE, relationship: relationship("project:p1#parent@organization:o1") },
      ],
    });
    const filter = { resourceType: "project", resourceId: "p1" };
    expect(await hub.readRelationships({ filter })).toMatchObject({ relationships: [] });
  });

  test("writes all or nothing", async () => {
    const hub = it.as("hub");
    await hub.writeRelationship({ relationship: relationship("project:all#owner@user:a") });
    const filter = { resourceType: "project", resourceId: "all" };
    await expect(
      hub.writeRelationships({
        updates: [
          touch("project:all#viewer@user:b"),
          { operation: CREATE, relationship: relationship("project:all#owner@user:a") },
        ],
      }),
    ).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await expect(
      hub.writeRelationships({
        updates: [touch("project:all#viewer@user:b")],
        preconditions: [{ operation: MUST_NOT_MATCH, filter }],
      }),
    ).rejects.toMatchObject({ code: "FAILED_PRECONDITION", status: 412 });
    expect((await hub.readRelationships({ filter })).relationships).toHaveLength(1);
  });

  test("is named in the audit of what it writes, with the relationships", async () => {
    const updates = ["a", "b"].map((id) => touch(`project:audit#viewer@user:${id}`));
    await it.as("writer").writeRelationships({ updates });
    await it.as("writer").deleteRelationship({
      relationship: relationship("project:audit#viewer@user:a"),
    });
    await expect(
      it.as("hub").writeRelationship({ relationship: relationship("zone:audit#owner@user:a") }),
    ).rejects.toMatchObject({ code: "FORBIDDEN" });
    const events: AuditEvent[] = [];
    for await (const event of it.iam.server.audit?.export({}) ?? []) {
      if (JSON.stringify(event).includes(":audit")) events.push(event);
    }
    const text = JSON.stringify(events);
    expect(text).toContain("project:audit#viewer@user:b");
    expect(events.map(({ type }) => type).sort()).toEqual([
      "iam.relationship.delete",
      "iam.relationship.write",
      "iam.relationship.write_batch",
      "relationships.deleted",
      "relationships.written",
    ]);
    for (const event of events) {
      const by = event.type === "iam.relationship.write" ? "hub" : "writer";
      expect(JSON.stringify(event)).toContain(`"${by}"`);
    }
  });

  test("selects single subjects, or sets of them", async () => {
    const hub = it.as("hub");
    await hub.writeRelationships({
      updates: [touch("project:sel#viewer@group:g#member"), touch("project:sel#viewer@user:g")],
    });
    const read = async (filter: object) => {
      const { relationships } = await hub.readRelationships({
        filter: { resourceType: "project", resourceId: "sel", ...filter },
      });
      return relationships.map(({ subject }) => `${subject?.type}#${subject?.relation}`);
    };
    expect(await read({})).toEqual(["group#member", "user#"]);
    expect(await read({ subjectType: "user", withoutSubjectRelation: true })).toEqual(["user#"]);
    expect(await read({ subjectType: "group", withoutSubjectRelation: true })).toEqual([]);
    expect(await read({ subjectType: "group", subjectRelation: "member" })).toHaveLength(1);
    expect(await read({ subjectType: "group", subjectId: "g" })).toHaveLength(1);
  });

  // SpiceDB continues with the state of the first page.
  test.skipIf(IS_PRODUCTION_STACK)(
    "gets the codes of the embedded engine, with their gRPC status",
    async () => {
      const hub = it.as("hub");
      await hub.writeRelationships({
        updates: ["a", "b"].map((id) => touch(`project:code#viewer@user:${id}`)),
      });
      const filter = { resourceType: "project", resourceId: "code" };
      const { nextPageToken } = await hub.readRelationships({ filter, pageSize: 1 });
      await hub.writeRelationship({ relationship: relationship("project:code#viewer@user:c") });
      await expect(
        hub.readRelationships({ filter, pageSize: 1, pageToken: nextPageToken }),
      ).rejects.toMatchObject({ code: "OUT_OF_RANGE", grpcStatus: 11 });
    },
  );

  test("learns why, but not about types that it does not read", async () => {
    await store(it.engine, [
      "project:why#parent@organization:why",
      "organization:why#owner@user:alice",
    ]);
    const question = { resource: project("why"), permission: "read", subject: alice };
    const all = await it.as("hub").explainPermission(question);
    const some = await it.as("reader").explainPermission(question);
    expect([all.allowed, some.allowed]).toEqual([true, true]);
    const typed = (steps: typeof all.steps) =>
      steps.flatMap(({ resource, relationship }) => [resource?.type, relationship?.resource?.type]);
    expect(typed(all.steps)).toContain("organization");
    expect(all.steps.some(({ hidden }) => hidden)).toBe(false);
    const last = all.steps.find(
      ({ relationship }) => relationship?.resource?.type === "organization",
    );
    expect(last?.relationship?.subject?.id).toBe("alice");
    // It sees that the organization allows it, and nothing of how.
    const ofOthers = some.steps.filter(({ resource }) => resource?.type !== "project");
    expect(ofOthers.length).toBeGreaterThan(0);
    for (const step of ofOthers) {
      expect([step.hidden, step.relationship]).toEqual([true, undefined]);
    }
    expect(JSON.stringify(some.steps)).not.toContain("alice");
    for (const [index, { parent }] of some.steps.entries()) {
      expect(parent).toBeLessThanOrEqual(index);
      expect(some.steps[parent]?.hidden === true && index > 0).toBe(false);
    }
  });

  test("reads the model of the platform", async () => {
    const { model } = await it.as("reader").getModel({});
    expect(model).toContain("definition skill_space");
    await expect(it.as("stranger").getModel({})).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  test("exchanges and refreshes tokens only if its entry says so [IAM-5]", async () => {
    for (const path of ["exchange", "refresh"]) {
      const body = { code: "c", redirectUri: "https://a.example/", refreshToken: "r" };
      const { refreshToken, ...code } = body;
      const sent = path === "refresh" ? { refreshToken } : code;
      for (const [name, key] of [
        ["hub", "iam.services.hub.may_exchange_tokens is not true"],
        ["stranger", "iam.services.stranger is missing"],
      ] as const) {
        const headers = { "X-Svc-Internal-Token": `the-internal-token-of-the-${name}` };
        const answer = await it.iam.call("POST", `/v1/iam/tokens:${path}`, sent, headers);
        expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining(key)]);
      }
    }
  });
});

test("a type that the model does not have prevents the start", async () => {
  const services = { hub: { read_types: ["projects"], write_types: ["skil"] } };
  await expect(startWithServices({ iam: { services } })).rejects.toThrow(
    /iam\.services\.hub\.read_types: the model has no type projects[^]*write_types: the model has no type skil/,
  );
});
