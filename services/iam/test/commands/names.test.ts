/** Names in place of ids, where they cannot be looked up, or not surely. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceError } from "svc-access/runtime";
import { describe, expect, test } from "vitest";
import { getGroup } from "../../src/commands/people/groups.ts";
import { createUser, deleteUser } from "../../src/commands/people/users.ts";
import { importRelationships } from "../../src/commands/permissions/import.ts";
import { deleteRelationships } from "../../src/commands/permissions/relationships.ts";
import { whoCan } from "../../src/commands/permissions/who-can.ts";
import { type Answers, runWith } from "./stub-calls.ts";

const TEXT = { format: "text" } as const;
const refused = () => Promise.reject(new ServiceError("FORBIDDEN"));

test("an empty name is nobody's, also where somebody has no e-mail address [CMD-3]", async () => {
  const answers: Answers = {
    listUsers: async () => ({
      users: [{ id: "1", username: "alice", email: "" }],
      nextPageToken: "",
    }),
  };
  await expect(runWith(answers, () => deleteUser("", { ...TEXT, yes: true }))).rejects.toThrow(
    "the user is empty: name one",
  );
});

test("whoever may not look up names learns that one is taken for an id [CMD-2]", async () => {
  const answers: Answers = {
    listUsers: refused,
    listRelationships: refused,
    writeRelationships: async () => ({ revision: "1" }),
  };
  const { stderr } = await runWith(answers, () =>
    deleteRelationships(["zone:acme#owner@user:alice"], TEXT),
  );
  expect(stderr).toMatch(
    /^svc-iam: "alice" is taken for an id: you may not look up names of users\nsvc-iam: 1 relationship /,
  );
});

const ALICE = "5f0c2d1e-0000-4000-8000-000000000001";
/** Users by their ids, of a directory whose ids need not be UUIDs. */
const usersAre = (users: Readonly<Record<string, string>>): Answers => ({
  listUsers: async ({ query }) => ({
    users: Object.entries(users).flatMap(([id, username]) =>
      username.startsWith(query) ? [{ id, username, email: "" }] : [],
    ),
    nextPageToken: "",
  }),
  async getUser({ userId }) {
    if (users[userId] === undefined) throw new ServiceError("RESOURCE_NOT_FOUND");
    return { user: { id: userId } };
  },
});

test.each([
  ["a user name", { [ALICE]: "alice" }, ALICE],
  ["an id that is no UUID", { alice: "bob" }, "alice"],
  ["an id and the user name of the same user", { alice: "alice" }, "alice"],
  ["the id of one user and the user name of another", { alice: "bob", [ALICE]: "alice" }, null],
  ["nobody's", { [ALICE]: "bob" }, null],
] as const)(
  "a command takes %s for whom it names, or for nobody [CMD-2]",
  async (_, of, expected) => {
    const deleted: unknown[] = [];
    const answers: Answers = {
      ...usersAre(of as Readonly<Record<string, string>>),
      async deleteUser({ userId }) {
        deleted.push(userId);
        return {};
      },
    };
    const ran = runWith(answers, () => deleteUser("alice", { ...TEXT, yes: true }));
    if (expected === null) await expect(ran).rejects.toThrow(/^(?:"alice" is the id of|no user)/);
    else await ran;
    expect(deleted).toEqual(expected === null ? [] : [expected]);
  },
);

describe.each([
  ["a user name", { [ALICE]: "alice" }, ALICE],
  ["an id that is no UUID", { alice: "bob" }, "alice"],
  ["an id and the user name of the same user", { alice: "alice" }, "alice"],
  ["the id of one user and the user name of another", { alice: "bob", [ALICE]: "alice" }, null],
  ["nobody's", { [ALICE]: "bob" }, null],
] as const)("a line of text with %s", (_, users, expected) => {
  test("is imported for whom it names, or for nobody [CMD-2]", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-iam-names-"));
    const file = join(folder, "lines.txt");
    writeFileSync(file, "zone:acme#owner@user:alice\n");
    const written: unknown[] = [];
    const answers: Answers = {
      ...usersAre(users as Readonly<Record<string, string>>),
      async writeRelationships({ relationships }) {
        written.push(...relationships.map((one: any) => one.subject.id));
        return { revision: "1" };
      },
    };
    try {
      const ran = runWith(answers, () => importRelationships(file, TEXT));
      if (expected === null) await expect(ran).rejects.toThrow(/^(?:"alice" is the id of|no user)/);
      else await ran;
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(written).toEqual(expected === null ? [] : [expected]);
  });
});

test("a name is not found among some of the groups, as if they were all [CMD-3]", async () => {
  const groups = Array.from({ length: 1000 }, (_, number) => ({
    id: String(number),
    displayName: `Group ${number}`,
  }));
  const pages = [{ id: "x", displayName: "Engineers" }, ...groups].slice(0, 1000);
  let calls = 0;
  const answers: Answers = {
    listVisibleGroups: async () => ({
      groups: calls++ === 0 ? pages : groups,
      nextPageToken: "more",
    }),
  };
  for (const name of ["Engineers", "Nobody"]) {
    calls = 0;
    await expect(runWith(answers, () => getGroup(name, TEXT))).rejects.toThrow(
      `"${name}" was looked for among the first 10000 groups only, and others may have the name: name one by its id`,
    );
  }
});

test("a user without a link is created all the same, and the message says how to make one [CMD-4]", async () => {
  const answers: Answers = {
    createUser: async () => ({ user: { id: "37ad", username: "alice" } }),
    createPasswordResetLink: () => Promise.reject(new ServiceError("UNAVAILABLE")),
  };
  const flags = { ...TEXT, email: "alice@example.com" };
  await expect(runWith(answers, () => createUser("alice", flags))).rejects.toThrow(
    /^the user is created, but has no link \(.*\): svc-iam user reset-link 37ad makes the link/,
  );
});

test("nobody is not the answer of a list that is not complete [CMD-3]", async () => {
  const answers: Answers = {
    listAccess: async () => ({ entries: [], nextPageToken: "", incomplete: true }),
  };
  const flags = { ...TEXT, limit: 100, type: "user" };
  await expect(runWith(answers, () => whoCan("owner", "zone:acme", flags))).rejects.toThrow(
    /^whether anybody holds it is not known, since/,
  );
});
