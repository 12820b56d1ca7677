import { connect, type IncomingHttpHeaders } from "node:http2";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Call } from "../../../src/runtime/call/call.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import type { EchoHandlers } from "../grpc/support/echo-methods.ts";
import { frame } from "../grpc/support/raw-call.ts";
import { startWebServer, type WebServer } from "../rpc-over-http/support/web-server.ts";

const WHAT = { header: "beginResponse", trailer: "endResponse" } as const;
type Kind = keyof typeof WHAT;

const escaped: unknown[] = [];
const note = (error: unknown): void => void escaped.push(error);
let server: WebServer | undefined;

beforeEach(() => {
  process.on("uncaughtException", note).on("unhandledRejection", note);
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  process.off("uncaughtException", note).off("unhandledRejection", note);
  expect(escaped.splice(0)).toEqual([]);
});

/** Gives the adapter what no handler can set: two values of a name that Node allows only once. */
async function setUnsendable(kind: Kind, handlers: EchoHandlers): Promise<WebServer> {
  return startWebServer({
    handlers,
    chain: {
      before: [
        (call, next) => {
          (call as Call)[WHAT[kind]] = () => new Map([["etag", ["a", "b"]]]);
          return next();
        },
      ],
    },
  });
}

interface Answer {
  readonly headers: IncomingHttpHeaders;
  /** The trailers of HTTP/2, or their form in the body. */
  readonly end: string;
}

function call(port: number, rpc: string, type: string, body: Buffer): Promise<Answer> {
  const session = connect(`http://127.0.0.1:${port}`);
  return new Promise((resolve, reject) => {
    let headers: IncomingHttpHeaders = {};
    let end = "";
    const stream = session.request({
      ":method": "POST",
      ":path": `/fixture.v1.EchoService/${rpc}`,
      "content-type": type,
      te: "trailers",
    });
    stream.on("response", (sent) => {
      headers = sent;
    });
    stream.on("trailers", (sent) => {
      end += JSON.stringify(sent);
    });
    stream.on("data", (data: Buffer) => {
      end += data.toString("latin1");
    });
    stream.on("error", reject);
    stream.on("close", () => {
      session.destroy();
      resolve({ headers, end });
    });
    stream.end(body);
  });
}

const EMPTY = Buffer.alloc(0);
const PROTOCOLS = [
  ["application/grpc", frame(EMPTY)],
  ["application/grpc-web+proto", frame(EMPTY)],
  ["application/proto", EMPTY],
] as const;

describe.each(PROTOCOLS)("metadata that Node does not send, over %s", (type, body) => {
  test("in the headers of a successful response is INTERNAL", async () => {
    server = await setUnsendable("header", { echo: async (request) => request });
    const { headers, end } = await call(server.port, "Echo", type, body);
    expect(headers.etag).toBeUndefined();
    expect(JSON.stringify(headers) + end).toMatch(/grpc-status"?: ?"?13|"code":"internal"/);
  });

  test.each<Kind>(["header", "trailer"])(
    "in the %ss of an error does not replace the error",
    async (kind) => {
      server = await setUnsendable(kind, {
        echo: async () => {
          throw new ServiceError("FORBIDDEN", "not you");
        },
      });
      const { headers, end } = await call(server.port, "Echo", type, body);
      expect(JSON.stringify(headers) + end).toMatch(
        /grpc-status"?: ?"?7|"code":"permission_denied"/,
      );
    },
  );

  test("in the trailers of a successful response ends no other call", async () => {
    server = await setUnsendable("trailer", { echo: async (request) => request });
    const { headers } = await call(server.port, "Echo", type, body);
    expect(headers[":status"]).toBeDefined();
  });

  test.each(["header", "trailer"] as const)(
    "a handler that appends to a %s with one value gets the error itself",
    async (kind) => {
      const append = kind === "header" ? "appendResponseHeader" : "appendResponseTrailer";
      server = await startWebServer({
        handlers: {
          echo: async (request, context) => {
            context[append]("etag", "a");
            context[append]("etag", "b");
            return request;
          },
        },
      });
      const { headers, end } = await call(server.port, "Echo", type, body);
      expect(JSON.stringify(headers) + end).toMatch(/grpc-status"?: ?"?13|"code":"internal"/);
    },
  );

  test("that is too large is INTERNAL, and the connection stays open", async () => {
    server = await startWebServer({
      handlers: {
        echo: async (request, context) => {
          context.setResponseHeader("x-large", "v".repeat(70_000));
          return request;
        },
      },
    });
    const { headers, end } = await call(server.port, "Echo", type, body);
    expect(JSON.stringify(headers) + end).toMatch(/grpc-status"?: ?"?13|"code":"internal"/);
  });

  test("beside Retry-After of the error is sent once", async () => {
    server = await startWebServer({
      handlers: {
        echo: async (_request, context) => {
          context.setResponseHeader("retry-after", "1");
          context.setResponseTrailer("retry-after", "1");
          throw new ServiceError("RATE_LIMITED", "later", { retryAfterSeconds: 7 });
        },
      },
    });
    const { headers, end } = await call(server.port, "Echo", type, body);
    expect(JSON.stringify(headers) + end).toMatch(
      /grpc-status"?: ?"?8|"code":"resource_exhausted"/,
    );
    expect(JSON.stringify(headers) + end).toMatch(/retry-after"?: ?"?7/);
  });
});

test.each([
  ["application/grpc", /grpc-status"?: ?"?13/],
  ["application/grpc-web+proto", /grpc-status: 13/],
  ["application/connect+proto", /"code":"internal"/],
])("headers of a stream that Node does not send are INTERNAL, over %s", async (type, reported) => {
  server = await setUnsendable("header", {
    expand: async function* (request) {
      yield request;
    },
  });
  const { headers, end } = await call(server.port, "Expand", type, frame(EMPTY));
  expect(JSON.stringify(headers) + end).toMatch(reported);
});
