import { expect, test } from "vitest";
import {
  type CasdoorGroup,
  type CasdoorUser,
  casdoorGroup,
  casdoorUser,
} from "../../support/casdoor/casdoor-records.ts";
import {
  ALICE,
  answerWith,
  BOB,
  directoryFixture,
  FOREIGN,
  signal,
} from "../../support/casdoor/directory-fixture.ts";

const it = directoryFixture();

type Record = Readonly<globalThis.Record<string, unknown>>;
const UNAVAILABLE = { code: "UNAVAILABLE" };

const BAD_USERS: readonly [string, Record][] = [
  ["an id with a line break", { id: "a\nb" }],
  ["an id with a star", { id: "*" }],
  ["an id with a space", { id: "a b" }],
  ["an empty id", { id: "" }],
  ["a number as id", { id: 7 }],
  ["no id", { id: undefined }],
  ["a name with a slash", { name: "evil/alice" }],
  ["a name with a control character", { name: "al\0ice" }],
  ["no name", { name: "" }],
  ["a list as name", { name: ["alice"] }],
  ["an object as display name", { displayName: {} }],
  ["a huge display name", { displayName: "x".repeat(5000) }],
  ["text as isForbidden", { isForbidden: "false" }],
  ["no isForbidden", { isForbidden: undefined }],
  ["no isDeleted", { isDeleted: null }],
  ["text as groups", { groups: "acme/staff" }],
  ["a group of another organization", { groups: ["evil/others"] }],
  ["a group of three parts", { groups: ["acme/a/b"] }],
  ["an object as group", { groups: [{ name: "staff" }] }],
  ["1,001 groups", { groups: Array.from({ length: 1001 }, (_, index) => `acme/${index}`) }],
  ["a time that is none", { createdTime: "yesterday" }],
  ["a number as time", { createdTime: 7 }],
];

test.each(BAD_USERS)("a list with a user with %s is refused [IDP-17]", async (_, changes) => {
  it.casdoor.data.users = [ALICE, { ...BOB, ...changes } as CasdoorUser];
  await expect(it.users()).rejects.toMatchObject(UNAVAILABLE);
});

test.each<[string, Record]>([
  ...BAD_USERS.filter(([, { id }]) => id === undefined),
  ["another owner", { owner: "evil" }],
  ["no owner", { owner: undefined }],
  ["another id", { id: BOB.id }],
  ["the id in other letter case", { id: ALICE.id.toUpperCase() }],
])("a user with %s is refused", async (_, changes) => {
  it.casdoor.intercept = answerWith({ ...ALICE, ...changes });
  await expect(it.directory.user("acme", ALICE.id, signal)).rejects.toMatchObject(UNAVAILABLE);
});

test.each<[string, unknown, unknown]>([
  ["an object", {}, 1],
  ["nothing", null, 1],
  [
    "more than was asked for",
    Array.from({ length: 101 }, (_, index) => casdoorUser(`u${index}`)),
    101,
  ],
  ["fewer than there are", [ALICE], 2],
  ["more than there are", [ALICE, BOB], 1],
  ["no number of users", [ALICE], null],
  ["text as the number of users", [ALICE], "1"],
  ["a fraction of a user", [ALICE], 1.5],
  ["a negative number of users", [ALICE], -1],
  ["one user twice", [ALICE, ALICE], 2],
  ["two users with one id", [ALICE, { ...BOB, id: ALICE.id }], 2],
  ["a user of another organization", [ALICE, FOREIGN], 2],
])("a list of users that is %s is refused", async (_, data, data2) => {
  it.casdoor.intercept = answerWith(data, data2);
  await expect(it.users()).rejects.toMatchObject(UNAVAILABLE);
});

test.each<[string, readonly Partial<CasdoorGroup>[]]>([
  ["a group above itself", [{ name: "a", parentId: "a" }]],
  [
    "two groups above each other",
    [
      { name: "a", parentId: "b" },
      { name: "b", parentId: "a" },
    ],
  ],
  [
    "a cycle that another group leads to",
    [
      { name: "a", parentId: "b" },
      { name: "b", parentId: "c" },
      { name: "c", parentId: "b" },
    ],
  ],
  ["a parent of another organization", [{ name: "a", parentId: "evil/others" }]],
  ["one group twice", [{ name: "a" }, { name: "a" }]],
  ["a group with a slash", [{ name: "evil/a" }]],
  ["a group without a name", [{ name: "" }]],
])("groups with %s are refused", async (_, records) => {
  it.casdoor.data.groups = records.map(({ name = "", ...more }) => casdoorGroup(name, more));
  await expect(it.groups()).rejects.toMatchObject(UNAVAILABLE);
});

test("more groups than can be held are refused after one page", async () => {
  it.casdoor.intercept = answerWith(
    Array.from({ length: 100 }, (_, index) => casdoorGroup(`g${index}`)),
    1_000_000,
  );
  const before = it.casdoor.requests.length;
  await expect(it.groups()).rejects.toMatchObject(UNAVAILABLE);
  expect(it.casdoor.requests.length - before).toBe(1);
});
