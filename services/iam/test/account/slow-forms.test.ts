/** A form that comes slowly, while the login of its browser ends. */
import { create } from "@bufbuild/protobuf";
import type { RawRequest } from "svc-access/runtime";
import { expect, test } from "vitest";
import { UserPreferencesSchema } from "../../gen/svc/iam/v1/auth_pb.ts";
import { type AccountHandlerOptions, accountHandler } from "../../src/account/account-handler.ts";
import { OWN_ACCOUNT_PATH } from "../../src/config/provider-paths.ts";
import { PageDesign } from "../../src/pages/page-design.ts";

/** What a form changes whose login ends while its body is read, and how it is answered. */
async function send(endsMeanwhile: "session" | "account" | undefined) {
  let ended: typeof endsMeanwhile;
  const changed: string[] = [];
  const visitor = { accountId: "alice", sessionId: "s", loginTime: Date.now(), browser: "b" };
  const options = {
    origin: "https://iam.example.com",
    visitors: {
      find: async () => (ended === "session" ? undefined : visitor),
      loginUrl: () => "https://iam.example.com/login",
    },
    accounts: { find: async () => ({ id: "alice", disabled: ended === "account" }) },
    hasFactor: async () => false,
    preferences: { chosenBy: async () => create(UserPreferencesSchema) },
    forms: { issue: () => "", isValid: () => true },
    design: new PageDesign(),
    sections: [
      {
        name: "",
        act: async (_: unknown, form: URLSearchParams) => {
          changed.push(String(form));
          return { done: "profile" };
        },
      },
    ],
  } as unknown as AccountHandlerOptions;
  const type = ["application/x-www-form-urlencoded"];
  const request = {
    path: OWN_ACCOUNT_PATH,
    method: "POST",
    query: new URLSearchParams(),
    headers: { all: (name: string) => (name === "content-type" ? type : []) },
    async body() {
      ended = endsMeanwhile;
      return Buffer.from("a=b");
    },
  } as unknown as RawRequest;
  const response = await accountHandler(options).handle(request, {} as never);
  return { changed, status: response?.status, page: String(response?.body) };
}

test.each(["session", "account"] as const)(
  "changes nothing after the end of the %s [PAGE-9]",
  async (ends) => {
    const page = expect.stringContaining("What you sent was not done.");
    expect(await send(ends)).toEqual({ changed: [], status: 403, page });
  },
);

test("changes the account of who is logged in", async () => {
  expect(await send(undefined)).toMatchObject({ changed: ["a=b"] });
});
