/** The request that `oidc-provider` gets. */
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { parse } from "node:querystring";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { formParameters } from "../../../src/pages/sent-forms.ts";
import { freshRequest } from "../../../src/provider/embedded/request/provider-request.ts";

function received(headers: IncomingMessage["headers"]): IncomingMessage {
  const incoming = new IncomingMessage(new Socket());
  incoming.method = "POST";
  incoming.headers = headers;
  return incoming;
}

const PARTS = ["user_code", "=", "&", "%", "%5F", "%ff", "+", "?", "\ufeff", "ö", "\0", "[]"];
/** All forms of three parts, and one that is not UTF-8. */
const BODIES = [
  Buffer.from([0x61, 0xff, 0xfe, 0x3d, 0xc3]),
  ...PARTS.flatMap((one) =>
    PARTS.flatMap((two) => PARTS.map((three) => Buffer.from(`${one}${two}${three}`))),
  ),
];

test("a form is ASCII, and has the fields that were read", async () => {
  for (const body of BODIES) {
    const form = formParameters(body);
    const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-16le" };
    const request = freshRequest({ incoming: received(headers), url: "/device", form });
    const sent = await text(request);
    expect(request.headers).toEqual({
      "content-type": "application/x-www-form-urlencoded",
      "content-length": String(sent.length),
    });
    expect(sent).toMatch(/^[\x20-\x7e]*$/);
    // As `oidc-provider` reads it.
    const fields = parse(sent);
    const names = [...new Set(form.keys())];
    expect(Object.keys(fields).sort()).toEqual(names.sort());
    for (const name of names) expect([fields[name]].flat()).toEqual(form.getAll(name));
  }
});

test("a request without a form keeps its headers", async () => {
  const headers = { "content-type": "text/plain; charset=utf-8", "transfer-encoding": "chunked" };
  const request = freshRequest({ incoming: received(headers), url: "/", form: undefined });
  expect([request.headers, await text(request)]).toEqual([headers, ""]);
});

test("a form without a type has none", async () => {
  const form = new URLSearchParams({ a: "b" });
  const request = freshRequest({ incoming: received({}), url: "/", form });
  expect([request.headers, await text(request)]).toEqual([{ "content-length": "3" }, "a=b"]);
});
