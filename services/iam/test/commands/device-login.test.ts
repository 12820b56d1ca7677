/** A login by a device that nobody approves: the client gives up with the code, before the issuer says so. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { logInByDevice } from "../../src/commands/login/device-login.ts";

test("a code that expires unapproved says to log in again, and does not blame the server", async () => {
  const server = createServer((request, response) => {
    const issuer = `http://${request.headers.host}`;
    const answers: Readonly<Record<string, readonly [number, object]>> = {
      "/.well-known/openid-configuration": [
        200,
        {
          issuer,
          device_authorization_endpoint: `${issuer}/device`,
          token_endpoint: `${issuer}/token`,
        },
      ],
      "/device": [
        200,
        {
          device_code: "d",
          user_code: "U",
          verification_uri: `${issuer}/approve`,
          expires_in: 1,
          interval: 1,
        },
      ],
    };
    const [status, body] = answers[request.url ?? ""] ?? [400, { error: "authorization_pending" }];
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const shown: string[] = [];
  const login = logInByDevice({ issuer, clientId: "cli" }, ({ code }) => shown.push(code));
  await expect(login).rejects.toThrow("nobody approved the login in time: run svc-iam login again");
  expect(shown).toEqual(["U"]);
});
