/** Names in place of ids, where they cannot be looked up, or not surely. */
import { ServiceError } from "svc-access/runtime";
import { expect, test } from "vitest";
import { getGroup } from "../../src/commands/people/groups.ts";
import { createUser, deleteUser } from "../../src/commands/people/users.ts";
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

test("whoever may not look up names is told that one is taken for an id [CMD-2]", async () => {
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
