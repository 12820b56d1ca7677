/** What a client can do with the least scope: the page that asks for consent must not say less. */
import { expect, onTestFinished, test } from "vitest";
import { FIRST } from "../../support/bootstrap.ts";
import { Browser } from "../../support/browser.ts";
import { approve, CLIENT, startOwned } from "../../support/command-line.ts";

test("a token for openid alone acts as the person, whom svc-iam knows by name", async () => {
  const iam = await startOwned();
  onTestFinished(() => iam.stop());
  const ask = async (path: string, fields: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams({ client_id: CLIENT.id, ...fields });
    const response = await fetch(`${iam.origin}/v1/iam/oidc/${path}`, { method: "POST", body });
    return (await response.json()) as Readonly<Record<string, string>>;
  };
  const begun = await ask("device/auth", { scope: "openid" });
  await approve(new Browser(iam.origin), begun["verification_uri_complete"] ?? "");
  const { access_token: token } = await ask("token", {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: begun["device_code"] ?? "",
  });
  const headers = { authorization: `Bearer ${token}` };
  const { status, body: me } = await iam.call("GET", "/v1/iam/me", undefined, headers);
  expect([status, me]).toEqual([
    200,
    expect.objectContaining({ name: FIRST["display_name"], username: "", email: "" }),
  ]);
  const user = { username: "alice", email: "alice@example.com", displayName: "Alice" };
  const fields = { ...user, password: "another horse battery" };
  const created = await iam.call("POST", "/v1/users", fields, headers);
  expect(created.status).toBe(200);
  const path = `/v1/users/${created.body.id}/password-reset-links`;
  expect((await iam.call("POST", path, {}, headers)).status).toBe(200);
});
