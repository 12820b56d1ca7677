/** What `oidc-provider` gets of a request that introspects or revokes a token. */
import { expect, test } from "vitest";
import { formParameters } from "../../../../src/pages/sent-forms.ts";
import { TOKEN_ENDPOINTS } from "../../../../src/provider/embedded/request/endpoints.ts";
import { presentTokenOf } from "../../../../src/provider/embedded/tokens/presented-token.ts";

const OWN = {
  issuer: "https://iam.example.com",
  keys: [],
  revocations: { isRevoked: async () => false },
  now: () => 1_800_000_000_000,
};
const [PATH = ""] = TOKEN_ENDPOINTS;

test.each([
  ["token=a.b.c&x=1", "token=invalid&x=1"],
  ["token=opaque", "token=opaque"],
  ["token=a.b.c&token=a.b.c", "token=a.b.c&token=a.b.c"],
  // Its parameter is `?token`.
  ["?token=a.b.c", "%3Ftoken=a.b.c"],
])("of %j it gets %j", async (body, sent) => {
  const form = formParameters(Buffer.from(body));
  const before = form.toString();
  const presented = await presentTokenOf(PATH, form, OWN);
  expect([presented.sent?.toString(), form.toString()]).toEqual([sent, before]);
});
