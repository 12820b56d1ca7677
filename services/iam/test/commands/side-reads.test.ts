/** Reads that only improve what a command says: they do not stop what the command is for. */
import { ServiceError } from "svc-access/runtime";
import { afterEach, describe, expect, test, vi } from "vitest";
import { addMember, listMembers, removeMember } from "../../src/commands/people/group-members.ts";
import {
  deleteRelationships,
  listRelationships,
} from "../../src/commands/permissions/relationships.ts";
import { whoCan } from "../../src/commands/permissions/who-can.ts";
import { type Answers, runWith } from "./stub-calls.ts";

afterEach(() => vi.useRealTimers());

const idOf = (number: number) => `5f0c2d1e-0000-4000-8000-${String(number).padStart(12, "0")}`;
const ALICE = idOf(1);
const ENGINEERS = idOf(2);
const TEXT = { format: "text" } as const;
const LIST = { ...TEXT, limit: 100 };
const owner = (id: string) => ({
  resource: { type: "zone", id: "acme" },
  relation: "owner",
  subject: { type: "user", id, relation: "" },
});

const ERRORS: readonly [string, Error][] = [
  ["ABORTED", ServiceError.of(409, "ABORTED", "written faster than listed")],
  ["DEADLINE_EXCEEDED", new ServiceError("DEADLINE_EXCEEDED")],
  ["UNAVAILABLE", new ServiceError("UNAVAILABLE")],
  ["RATE_LIMITED", new ServiceError("RATE_LIMITED")],
  ["an old token", new ServiceError("INVALID_ARGUMENT", "page_token is too old")],
  ["FORBIDDEN", new ServiceError("FORBIDDEN")],
  ["a defect", new TypeError("undefined is not iterable")],
];
const CASES: readonly [string, (signal?: AbortSignal) => Promise<never>][] = [
  ...ERRORS.map(
    ([name, error]) =>
      [`fails with ${name}`, () => Promise.reject(error)] as [string, () => Promise<never>],
  ),
  [
    "does not answer",
    () => {
      vi.advanceTimersByTimeAsync(5000);
      return new Promise(() => {});
    },
  ],
];

describe.each(CASES)("a list that %s stops no", (_, fail) => {
  test("deletion of relationships [CMD-2]", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const deleted: unknown[] = [];
    const answers: Answers = {
      listRelationships: fail,
      async writeRelationships({ deletions }) {
        deleted.push(...deletions);
        return { revision: "1" };
      },
    };
    const texts = [`zone:acme#owner@user:${ALICE}`];
    const { status, stderr } = await runWith(answers, () => deleteRelationships(texts, TEXT));
    expect([status, deleted]).toEqual([0, [owner(ALICE)]]);
    expect(stderr).toBe("svc-iam: 1 relationship deleted: whether it existed is not known\n");
  });

  const CHANGES = [
    ["removal of a member", removeMember, "removeMember", "is no longer a member of"],
    ["addition of a member", addMember, "addMember", "is a member of"],
  ] as const;
  test.each(CHANGES)("%s [CMD-4]", async (_, change, method, done) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const call = vi.fn(async () => ({ revision: "1" }));
    const answers: Answers = { listMembers: fail, [method]: call };
    const { status, stderr } = await runWith(answers, () =>
      change(ENGINEERS, `user:${ALICE}`, TEXT),
    );
    expect(call).toHaveBeenCalledOnce();
    expect([status, stderr]).toEqual([
      0,
      `svc-iam: user:${ALICE} ${done} the group ${ENGINEERS}\n`,
    ]);
  });
});

test("a deletion says of how many relationships it is not known whether they existed [CMD-2]", async () => {
  const answers: Answers = {
    async listRelationships({ resourceId }) {
      if (resourceId === "other") throw new ServiceError("FORBIDDEN");
      return { relationships: [owner(ALICE)], nextPageToken: "" };
    },
    writeRelationships: async () => ({ revision: "1" }),
  };
  const texts = [
    `zone:acme#owner@user:${ALICE}`,
    `zone:acme#owner@user:${idOf(3)}`,
    `zone:other#owner@user:${idOf(4)}`,
  ];
  const { stderr } = await runWith(answers, () => deleteRelationships(texts, TEXT));
  expect(stderr).toBe(
    "svc-iam: 2 relationships deleted: 1 did not exist, whether 1 existed is not known\n",
  );
});

const groupUnreadable = new ServiceError(
  "FAILED_PRECONDITION",
  "the response names more than 20000 groups: use a smaller page_size",
);
const subjects = [
  { type: "user", id: ALICE, relation: "" },
  { type: "group", id: ENGINEERS, relation: "member" },
];
const LISTS: readonly [string, Answers, () => Promise<number>][] = [
  [
    "who-can",
    {
      listAccess: async () => ({
        entries: subjects.map((subject) => ({ subject, path: [], notShown: "" })),
        nextPageToken: "",
      }),
    },
    () => whoCan("owner", "zone:acme", LIST),
  ],
  [
    "relationship list",
    {
      listRelationships: async () => ({
        relationships: subjects.map((subject) => ({ ...owner(""), subject })),
        nextPageToken: "",
      }),
    },
    () => listRelationships({ ...LIST, resource: "zone:acme" }),
  ],
  [
    "group members",
    { listMembers: async () => ({ members: subjects, nextPageToken: "" }) },
    () => listMembers(ENGINEERS, LIST),
  ],
];

describe.each(LISTS)("svc-iam %s", (_, answers, command) => {
  test.each(CASES.filter(([name]) => !name.includes("FORBIDDEN")))(
    "is shown without names where their list %s, and says so once [CMD-2]",
    async (_, fail) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const failing = { ...answers, listUsers: fail, listVisibleGroups: fail };
      const { status, stdout, stderr } = await runWith(failing, command);
      expect(status).toBe(0);
      expect(stdout).toContain(ALICE);
      expect(stdout).toContain(ENGINEERS);
      expect(stderr).toMatch(/^svc-iam: some names are not shown: [^\n]+\n$/);
    },
  );

  test("has the names that could be read [CMD-2]", async () => {
    const some: Answers = {
      ...answers,
      listUsers: async () => ({
        users: [{ id: ALICE, username: "alice", email: "" }],
        nextPageToken: "",
      }),
      listVisibleGroups: () => Promise.reject(groupUnreadable),
    };
    const { stdout, stderr } = await runWith(some, command);
    expect(stdout).toContain(" alice");
    expect(stderr).toMatch(/^svc-iam: some names are not shown: .* 20000 groups: .*\n$/);
  });

  test("says whose names are left out where there are many [CMD-2]", async () => {
    const users = Array.from({ length: 1000 }, (_, number) => ({
      id: idOf(1000 + number),
      username: `user${number}`,
      email: "",
    }));
    const many: Answers = {
      ...answers,
      listUsers: async () => ({ users, nextPageToken: "more" }),
      listVisibleGroups: () => Promise.reject(new ServiceError("FORBIDDEN")),
    };
    const { status, stderr } = await runWith(many, command);
    expect([status, stderr]).toEqual([
      0,
      "svc-iam: only the first 2000 users are shown with their names\n",
    ]);
  });
});
