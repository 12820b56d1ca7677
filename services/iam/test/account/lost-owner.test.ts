/** Changes of the factors, while the login of their owner ends. */
import { create } from "@bufbuild/protobuf";
import type { RawRequest } from "svc-access/runtime";
import { expect, test } from "vitest";
import { UserPreferencesSchema } from "../../gen/svc/iam/v1/auth_pb.ts";
import { type AccountHandlerOptions, accountHandler } from "../../src/account/account-handler.ts";
import { FactorsSection, type FactorsSectionOptions } from "../../src/account/factors-section.ts";
import { OWN_ACCOUNT_PATH } from "../../src/config/provider-paths.ts";
import { PageDesign } from "../../src/pages/page-design.ts";

const LOGIN = "https://iam.example.com/login";
const lost = async () => "lost_owner";

test.each(["app", "passkey", "codes", "remove"])(
  "the form %j of who is no longer logged in learns that it was not done, and nothing false [FACTOR-6]",
  async (action) => {
    const recorded: unknown[] = [];
    const section = new FactorsSection({
      factors: { addApp: lost, addPasskey: lost, newCodes: lost, remove: lost },
      forms: { dataOf: () => JSON.stringify({ secret: "s", challenge: "c", codes: "v" }) },
      attempts: { record: async (...attempt: unknown[]) => recorded.push(attempt) },
      quota: { use: async () => undefined },
    } as unknown as FactorsSectionOptions);
    const visitor = { accountId: "alice", sessionId: "s", loginTime: Date.now(), browser: "b" };
    const options = {
      origin: "https://iam.example.com",
      visitors: { find: async () => visitor, loginUrl: () => LOGIN },
      accounts: { find: async () => ({ id: "alice", disabled: false }) },
      hasFactor: async () => false,
      preferences: { chosenBy: async () => create(UserPreferencesSchema) },
      forms: { issue: () => "", isValid: () => true },
      design: new PageDesign(),
      sections: [section],
    } as unknown as AccountHandlerOptions;
    const type = ["application/x-www-form-urlencoded"];
    const request = {
      path: `${OWN_ACCOUNT_PATH}/factors`,
      method: "POST",
      query: new URLSearchParams(),
      headers: { all: (name: string) => (name === "content-type" ? type : []) },
      body: async () => Buffer.from(`action=${action}&factor=f&code=1`),
    } as unknown as RawRequest;
    const call = { audit: { record: async (event: unknown) => recorded.push(event) } };
    const response = await accountHandler(options).handle(request, call as never);
    expect([response?.status, response?.body]).toEqual([
      403,
      expect.stringContaining("What you sent was not done."),
    ]);
    expect(recorded).toEqual([]);
  },
);
