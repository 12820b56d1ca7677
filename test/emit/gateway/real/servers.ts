/** What stands behind and beside the gateway: the hub, its pages, and the identity provider. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { rsaKey, signToken } from "../../../runtime/authn/jwt/tokens.ts";
import { CLIENT, CLIENT_SECRET, PORTS, PROVIDER } from "./platform.ts";

const KEY = rsaKey("key-1");

/** A token of alice's, with other claims where given. */
export function tokenOf(claims: Readonly<Record<string, unknown>> = {}): string {
  const now = Math.floor(Date.now() / 1000);
  return signToken(KEY, {
    iss: PROVIDER,
    aud: CLIENT,
    sub: "alice",
    owner: "acme",
    iat: now,
    exp: now + 3600,
    ...claims,
  });
}

/** The header that says what of a request reached a backend, as JSON in base64. */
export const SEEN = "x-seen";

const seen = ({ method, url, rawHeaders }: IncomingMessage): string =>
  Buffer.from(JSON.stringify({ method, url, rawHeaders })).toString("base64");

/** Hands each request on to the hub, and notes what it was. */
export function hubProxy(hub: string) {
  const { hostname, port } = new URL(hub);
  return listen(PORTS.hub, (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const forwarded = request({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, [SEEN]: seen(incoming) });
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
}

/** The pages of the frontends. */
export function pages() {
  return listen(PORTS.pages, (incoming, outgoing) => {
    outgoing.writeHead(200, { "content-type": "text/html", [SEEN]: seen(incoming) });
    outgoing.end("<p>a page</p>");
  });
}

/** Keys, and tokens for a code. */
export function provider() {
  const basic = Buffer.from(`${CLIENT}:${CLIENT_SECRET}`).toString("base64");
  return listen(PORTS.provider, ({ url, headers }, outgoing) => {
    const json = (status: number, body: object) => {
      outgoing.writeHead(status, { "content-type": "application/json" });
      outgoing.end(JSON.stringify(body));
    };
    if (url === "/keys") return json(200, { keys: [KEY.jwk] });
    if (url !== "/token") return json(404, {});
    if (headers.authorization !== `Basic ${basic}`) return json(401, { error: "invalid_client" });
    const token = tokenOf();
    json(200, { access_token: token, id_token: token, token_type: "Bearer", expires_in: 3600 });
  });
}

async function listen(
  port: number,
  handler: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server;
}
