/** Connect GET: the RPCs that allow it, and its query. */
import { gzipSync } from "node:zlib";
import { create, createFileRegistry } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
} from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AccessPolicy } from "../../../../src/api/format.ts";
import type { BoundMethod } from "../../../../src/runtime/binding/bound-method.ts";
import { messageRegistry } from "../../../../src/runtime/json/json-text.ts";
import { mayGet } from "../../../../src/runtime/rpc-over-http/web-protocols.ts";
import { boundMethods } from "../../grpc/support/echo-methods.ts";
import { httpRoute } from "../../http/support.ts";
import { startWebServer, type WebServer } from "../support/web-server.ts";

const GET = httpRoute("GET /v1/echo");
const NO_SIDE_EFFECTS = 1;

/** Echo with an option, a route and a policy. */
function readable(change: Partial<BoundMethod> = {}, idempotency = NO_SIDE_EFFECTS): BoundMethod {
  const [echo] = boundMethods() as [BoundMethod];
  const descriptor = Object.assign(Object.create(echo.descriptor as object), { idempotency });
  return { ...echo, descriptor, isWrite: false, routes: [GET], ...change };
}

const policy = (exposure: AccessPolicy["exposure"]) => ({ policy: { exposure, publish: false } });

interface Field {
  readonly name: string;
  readonly type: number;
  readonly label: number;
  readonly typeName?: string;
  readonly options?: { readonly debugRedact: boolean };
  readonly number?: number;
  readonly extendee?: string;
}

interface Declared {
  readonly field?: readonly Field[];
  /** The extension range. */
  readonly range?: { readonly start: number; readonly end: number };
}

const SECRET: Field = { name: "secret", type: 9, label: 1, options: { debugRedact: true } };
const PLAIN: Field = { name: "plain", type: 9, label: 1 };
const ANY: Field = { name: "any", type: 11, label: 1, typeName: ".google.protobuf.Any" };
const INNER: Field = { name: "inner", type: 11, label: 1, typeName: ".t.Inner" };
/** An extension of a message. */
const extending = (extendee: string, field: Field): Field => ({
  ...field,
  number: 100,
  extendee: `.t.${extendee}`,
});
const EXTENDABLE: Declared = { range: { start: 100, end: 200 } };

/** Echo with another request: the message `Request`, in a file with further messages and extensions. */
function asking(messages: Record<string, Declared>, extension: Field[] = []): BoundMethod {
  const messageType = Object.entries(messages).map(([name, { field, range }]) => ({
    name,
    field: (field ?? []).map((each, index) => ({ ...each, number: index + 1 })),
    extensionRange: range === undefined ? [] : [range],
  }));
  const file = create(FileDescriptorProtoSchema, {
    ...{ name: "t.proto", package: "t", syntax: "proto2" },
    ...{ dependency: ["google/protobuf/any.proto"], messageType, extension },
  });
  const registry = createFileRegistry(
    create(FileDescriptorSetSchema, { file: [file_google_protobuf_any.proto, file] }),
  );
  const method = readable();
  const descriptor = Object.assign(Object.create(method.descriptor as object), {
    input: registry.getMessage("t.Request"),
    parent: { file: registry.getFile("t.proto") },
  });
  return { ...method, descriptor };
}

const may = (method: BoundMethod) => mayGet(method, () => messageRegistry([method]));

describe("an RPC may not be called by GET [TRANS-3]", () => {
  it.each<[name: string, method: BoundMethod]>([
    ["that may change something", readable({}, 0)],
    ["that is only idempotent", readable({}, 2)],
    ["without a route", readable({ routes: [] })],
    ["with another route", readable({ routes: [httpRoute("POST /v1/echo")] })],
    ["with a stream", readable({ kind: "server_streaming" })],
    ["that is INTERNAL", readable(policy("INTERNAL"))],
    ["that is SYSTEM", readable(policy("SYSTEM"))],
    ["with a debug_redact field", asking({ Request: { field: [SECRET] } })],
    [
      "with such a field within another message",
      asking({
        Request: { field: [PLAIN, { ...INNER, typeName: ".t.Outer" }] },
        Outer: { field: [{ ...INNER, label: 3 }] },
        Inner: { field: [PLAIN, SECRET] },
      }),
    ],
    [
      "with an Any, which may contain such a field",
      asking({
        Request: { field: [INNER] },
        Inner: { field: [ANY] },
        Other: { field: [PLAIN, SECRET] },
      }),
    ],
    [
      "with an Any, which may contain such an extension",
      asking({ Request: { field: [ANY] }, Other: EXTENDABLE }, [extending("Other", SECRET)]),
    ],
    [
      "with such an extension",
      asking({ Request: { field: [INNER] }, Inner: EXTENDABLE }, [extending("Inner", SECRET)]),
    ],
    [
      "with an extension that has such a field",
      asking({ Request: EXTENDABLE, Inner: { field: [SECRET] } }, [extending("Request", INNER)]),
    ],
  ])("%s", (_name, method) => {
    expect(may(method)).toBe(false);
  });

  it("and may be otherwise", () => {
    expect(may(readable())).toBe(true);
    expect(may(readable(policy("AUTHENTICATED")))).toBe(true);
  });

  it.each([
    ["an Any", asking({ Request: { field: [ANY] }, Other: { field: [PLAIN] } })],
    [
      "extensions",
      asking({ Request: EXTENDABLE, Other: EXTENDABLE }, [
        extending("Request", PLAIN),
        { ...extending("Other", SECRET), number: 101 },
      ]),
    ],
    [
      "a recursive message",
      asking({ Request: { field: [{ ...INNER, typeName: ".t.Request" }, PLAIN] } }),
    ],
  ])("also with %s, of which none is to be redacted", (_name, method) => {
    expect(may(method)).toBe(true);
  });
});

describe("a query", () => {
  let server: WebServer;
  beforeAll(async () => {
    server = await startWebServer({ methods: [readable()], maxBytes: 64 });
  });
  afterAll(() => server.close());

  const ask = (query: string, method = "GET") =>
    fetch(`${server.origin}/fixture.v1.EchoService/Echo?${query}`, { method });

  it.each([
    ["connect=v2&encoding=json&message={}", 400],
    ["connect=v1&connect=v1&encoding=json&message={}", 400],
    ["connect=v1&encoding=json", 400],
    ["connect=v1&encoding=json&message=", 400],
    ["connect=v1&encoding=json&message={}&message={}", 400],
    ["connect=v1&encoding=json&message=%zz", 400],
    ["connect=v1&encoding=json&message=%", 400],
    ["connect=v1&encoding=json&base64=2&message=e30", 400],
    ["connect=v1&encoding=json&base64=1&message=e3", 400],
    ["connect=v1&encoding=json&base64=1&message=e3*9", 400],
    ["connect=v1&encoding=json&base64=1&message=e30===", 400],
    ["connect=v1&encoding=proto&message=%FF", 400],
    ["connect=v1&encoding=json&compression=br&message={}", 501],
    ["connect=v1&encoding=json&compression=gzip&message={}", 400],
    [`connect=v1&encoding=json&message=${encodeURIComponent(`{"text":"${"x".repeat(64)}"}`)}`, 429],
    ["connect=v1&message={}", 415],
    ["connect=v1&encoding=xml&message={}", 415],
    ["encoding=json&message={}", 415],
    ["", 415],
  ])("%s is refused", async (query, status) => {
    const response = await ask(query);
    expect(response.status).toBe(status);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  it.each([
    ["connect=v1&encoding=json&message=%7B%22text%22%3A%22a%20b%22%7D"],
    ["connect=v1&encoding=json&message=%7B%22text%22:%22a+b%22%7D"],
    ["message=eyJ0ZXh0IjoiYSBiIn0&base64=1&connect=v1&encoding=json&other=1&other=2"],
    ["message=eyJ0ZXh0IjoiYSBiIn0%3D&base64=1&connect=v1&encoding=json"],
    ["connect=v1&encoding=proto&base64=1&message=CgNhIGI"],
    ["connect=v1&encoding=proto&message=%0A%03a%20b"],
    [
      `connect=v1&encoding=json&base64=1&compression=gzip&message=${gzipSync('{"text":"a b"}').toString("base64url")}`,
    ],
  ])("%s is answered", async (query) => {
    const response = await ask(query);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(Buffer.from(await response.arrayBuffer()).toString("latin1")).toContain("a b");
  });

  it("is refused without its query, which the message names", async () => {
    expect(await (await ask("encoding=json&message={}")).text()).toBe(
      "no route has this path; Connect needs the query connect=v1, with encoding and message\n",
    );
  });

  it("is refused for HEAD as for GET", async () => {
    for (const method of ["GET", "HEAD"]) expect((await ask("", method)).status).toBe(415);
  });

  it("is answered without a body for HEAD", async () => {
    const response = await ask("connect=v1&encoding=json&message={}", "HEAD");
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
  });
});
