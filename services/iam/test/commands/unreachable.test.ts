/** What commands say of a server that they cannot use. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { afterAll, expect, test } from "vitest";
import { CommandLine } from "../support/command-line.ts";

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const answering = (answer: RequestListener) => () => portOf(createServer(answer));

const SERVERS: readonly [string, () => Promise<number>, RegExp][] = [
  [
    "nobody serves",
    async () => 9,
    /cannot be reached or used: nothing listens there: check the address and the port/,
  ],
  [
    "does not speak HTTP",
    () => portOf(createTcpServer((socket) => void socket.end("220 mail.example.com\r\n"))),
    /cannot be reached or used: what listens there does not speak HTTP: check/,
  ],
  [
    "is another web server",
    answering((_, response) => void response.setHeader("content-type", "text/html").end("<p>")),
    /cannot be reached or used: what answers there is not svc-iam: check the address/,
  ],
  [
    "answers 503",
    answering((_, response) => void response.writeHead(503).end()),
    /cannot answer now \(503\): look at \/readyz and the log of the server, and repeat/,
  ],
];

test.each(SERVERS)("a server that %s is named with the cause [CMD-3]", async (_, start, cause) => {
  const server = `http://127.0.0.1:${await start()}`;
  const line = new CommandLine({ SVC_IAM_LOGIN_FILE: "login.json" });
  const login = {
    server,
    issuer: `${server}/v1/iam/oidc`,
    clientId: "a client",
    accessToken: "a-token",
    expires: Date.now() + 600_000,
    organizationId: "acme",
    username: "root",
  };
  writeFileSync(`${line.folder}/login.json`, JSON.stringify(login), { mode: 0o600 });
  for (const command of [
    ["user", "list"],
    ["audit", "query"],
  ]) {
    const { status, stdout, stderr } = await line.run(...command);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(new RegExp(`^svc-iam: the server ${server} [^\\n]+\\n$`));
    expect(stderr).toMatch(cause);
    expect(stderr).not.toMatch(/Parse Error|RTSP|ICE|unavailable/);
  }
});
