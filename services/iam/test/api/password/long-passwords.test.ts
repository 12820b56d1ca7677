/**
 * The time to normalize a text grows with the square of the number of its combining marks: 3 seconds
 * for 200 KB, in which the process does nothing else.
 */
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { NEW, OLD, relate, startUsers } from "../../support/passwords.ts";

/** More bytes than a password may have, and few enough that the test ends if they are normalized. */
const MARKS = `a${"\u0301\u0316".repeat(4000)}`;

let iam: IamService;
let alice: string;
beforeAll(async () => {
  iam = await startIam();
  alice = (await startUsers(iam, ["alice"]))["alice"] ?? "";
  await relate(iam, "user_manager", "manager");
});
afterAll(() => iam.stop());
afterEach(() => vi.restoreAllMocks());

const user = { username: "bob", displayName: "Bob", email: "bob@example.com" };

test.each<[string, string, () => string, object]>([
  [
    "new password",
    "/v1/iam/me/password:change",
    () => alice,
    { currentPassword: OLD, newPassword: MARKS },
  ],
  [
    "current password",
    "/v1/iam/me/password:change",
    () => alice,
    { currentPassword: MARKS, newPassword: NEW },
  ],
  ["password of a new user", "/v1/users", () => "manager", { ...user, password: MARKS }],
])("a %s that is too long is refused before it is normalized", async (_, path, caller, body) => {
  const normalize = vi.spyOn(String.prototype, "normalize");
  const { status } = await iam.call("POST", path, body, asUser(caller()));
  const lengths = normalize.mock.contexts.map((text) => String(text).length);
  expect(status).toBe(400);
  expect(lengths.filter((length) => length > 1024)).toEqual([]);
});
