/** A login by a device that nobody approves: the client gives up with the code, before the issuer says so. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { logInByDevice, refreshLogin, revokeLogin } from "../../src/commands/login/device-login.ts";

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

async function originOf(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const REQUESTS: readonly [string, (issuer: string) => Promise<unknown>][] = [
  ["login", (issuer) => logInByDevice({ issuer, clientId: "cli" }, () => {})],
  ["refresh", (issuer) => refreshLogin({ issuer, clientId: "cli" }, "token")],
  ["logout", (issuer) => revokeLogin({ issuer, clientId: "cli" }, "token")],
];

describe.each(REQUESTS)("a %s", (_, request) => {
  const down = "cannot answer now (503): look at /readyz and the log of the server, and repeat";

  test("at an edge whose server is away blames the server, not the address", async () => {
    const origin = await originOf((_, response) => void response.writeHead(503).end("no backend"));
    await expect(request(`${origin}/v1/iam/oidc`)).rejects.toThrow(`the server ${origin} ${down}`);
  });

  test.each([
    ["text", "no backend"],
    ["an OAuth error", '{"error":"server_error"}'],
  ])("whose server goes away after its metadata says the same, with %s", async (_, body) => {
    const origin = await originOf(({ url = "", headers: { host } }, response) => {
      const isMetadata = url.includes("/.well-known/");
      const issuer = `http://${host}`;
      const endpoint = `${issuer}/endpoint`;
      const metadata = {
        issuer,
        device_authorization_endpoint: endpoint,
        token_endpoint: endpoint,
        revocation_endpoint: endpoint,
      };
      response.writeHead(isMetadata ? 200 : 503, { "content-type": "application/json" });
      response.end(isMetadata ? JSON.stringify(metadata) : body);
    });
    await expect(request(origin)).rejects.toThrow(`the server ${origin} ${down}`);
  });

  test.each([
    [
      "https://iam.example.com/v1/iam/oidc",
      "use https://iam.example.com, which is its iam.public_url",
    ],
    ["https://id.example.com/realms/a", "use --issuer https://id.example.com/realms/a"],
  ])("at another name than that of the issuer %s names the right one", async (name, fix) => {
    const origin = await originOf((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ issuer: name }));
    });
    await expect(request(`${origin}/v1/iam/oidc`)).rejects.toThrow(
      `the identity provider ${origin}/v1/iam/oidc calls itself ${name}: ${fix}`,
    );
  });
});
