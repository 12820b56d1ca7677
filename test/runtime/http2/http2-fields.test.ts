/** What HTTP/2 says of its fields (RFC 9113), on both ports. */
import { once } from "node:events";
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { afterEach, describe, expect, test } from "vitest";
import { Http2Headers } from "../../../src/runtime/http2/http2-headers.ts";
import { startEchoServer } from "../grpc/support/echo-server.ts";
import { rawMethod, start, stopAll } from "../http/support.ts";

afterEach(stopAll);

/** The headers of the answer to a request without a body. */
async function ask(origin: string, headers: OutgoingHttpHeaders): Promise<IncomingHttpHeaders> {
  const session = connect(origin);
  try {
    const stream = session.request(headers);
    // A client that tunnels says so by not ending its stream.
    stream.end();
    stream.resume();
    const [answer] = await once(stream, "response");
    return answer as IncomingHttpHeaders;
  } finally {
    session.destroy();
  }
}

/** A server that returns what a handler gets of a header. */
function echoing(name: string) {
  return start({
    rawMethods: [
      rawMethod(
        { path: "/raw", match: "exact", methods: ["GET"], exposure: "PUBLIC" },
        ({ headers }) => ({
          status: 200,
          headers: { "x-received": JSON.stringify(headers.all(name)) },
        }),
      ),
    ],
  });
}

test("cookies in several fields are joined into one", async () => {
  const { origin } = await echoing("cookie");
  const answer = await ask(origin, { ":path": "/raw", cookie: ["a=1", "__Host-s=2"] });
  expect(answer["x-received"]).toBe('["a=1; __Host-s=2"]');
});

test("other headers that occur twice stay two", () => {
  const headers = new Http2Headers(["x-a", "1", "x-a", "2", "cookie", "a=1"]);
  expect(headers.all("x-a")).toEqual(["1", "2"]);
  expect(headers.all("cookie")).toEqual(["a=1"]);
});

describe("a host beside :authority", () => {
  test.each([
    ["another one", "other.example.com", 400],
    ["the same", "a.example.com", 200],
  ])("%s", async (_, host, status) => {
    const { origin } = await echoing("host");
    const headers = { ":path": "/raw", ":authority": "a.example.com", host };
    const answer = await ask(origin, headers);
    expect(answer[":status"]).toBe(status);
    expect(answer["x-received"]).toBe(status === 200 ? '["a.example.com"]' : undefined);
  });

  test("two of them stay two", () => {
    expect(new Http2Headers(["host", "a", "host", "a"]).all("host")).toEqual(["a", "a"]);
    const three = new Http2Headers([":authority", "a", "host", "a", "host", "a"]);
    expect(three.all("host")).toHaveLength(3);
  });
});

test("CONNECT is refused with the allowed methods", async () => {
  const server = await echoing("host");
  const answer = await ask(server.origin, { ":method": "CONNECT", ":authority": "a:80" });
  expect(answer[":status"]).toBe(405);
  expect(answer.allow).toContain("GET");
  expect(server.unrouted).toMatchObject([{ httpMethod: "CONNECT", target: "", status: 405 }]);
});

test("the gRPC port reports the allowed method", async () => {
  const server = await startEchoServer();
  const answer = await ask(`http://${server.target}`, { ":path": "/" });
  await server.close();
  expect(answer[":status"]).toBe(405);
  expect(answer.allow).toBe("POST");
});
