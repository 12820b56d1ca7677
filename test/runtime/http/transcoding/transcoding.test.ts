import { create, createRegistry, type Message, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  file_thing,
  type Thing,
  type ThingBox,
  ThingBoxSchema,
  ThingSchema,
} from "../fixture/thing_pb.ts";
import { httpRoute, openChain, type Running, start, stopAll, thingMethod } from "../support.ts";

const registry = createRegistry(file_thing);
let running: Running;
let seen: Message | undefined;
let answer: Partial<ThingBox> = {};
/** What calls came to, for logs and audit. */
const ended: unknown[] = [];

beforeAll(async () => {
  const echo = async (thing: Thing) => {
    seen = thing;
    return thing;
  };
  const box = async (request: ThingBox) => {
    seen = request;
    return answer;
  };
  running = await start({
    chain: openChain({ observers: [{ end: (_call, error) => void ended.push(error) }] }),
    methods: [
      thingMethod(
        "getThing",
        [
          httpRoute("GET /v1/things/{name}"),
          httpRoute("POST /v1/things", { body: "*" }),
          httpRoute("PUT /v1/things/{part.part_id}", { body: "*" }),
          httpRoute("PATCH /v1/whole/{time}", { body: "*" }),
          httpRoute("GET /v1/long/{big}/{color}/{flag}/{time}"),
          httpRoute("GET /v1/bytes/{data}/{span}/{mask}/{wrapped_long}"),
          httpRoute("GET /v1/deep/{inner.inner.part.weight}"),
          httpRoute("GET /v1/one/{choice_part.part_id}"),
          httpRoute("GET /v1/files/{name=**}"),
          httpRoute("GET /v1/named/{name=projects/*/things/*}"),
          httpRoute("GET /v1/named/{name=projects/*}:verb"),
          httpRoute("GET /v1/tag", { responseBody: "tags" }),
        ],
        echo,
      ),
      thingMethod(
        "putThing",
        [
          httpRoute("PATCH /v1/box/{thing.name}", { body: "thing", responseBody: "thing" }),
          httpRoute("POST /v1/box/tags", { body: "tags", responseBody: "tags" }),
          httpRoute("POST /v1/box/counts", { body: "counts", responseBody: "counts" }),
          httpRoute("POST /v1/box/number", { body: "number", responseBody: "number" }),
          httpRoute("POST /v1/box/color", { body: "color", responseBody: "color" }),
          httpRoute("POST /v1/box/time", { body: "time", responseBody: "time" }),
        ],
        box,
      ),
      thingMethod("dropThing", [httpRoute("DELETE /v1/things/{name}")], async () => ({})),
    ],
  });
});
afterAll(stopAll);

async function call(text: string, body?: string, type = "application/json") {
  seen = undefined;
  const [method = "", path = ""] = text.split(" ");
  const response = await fetch(running.origin + path, {
    method,
    ...(body === undefined ? {} : { body, headers: { "content-type": type } }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

describe("an invalid request", () => {
  it.each([
    ["GET /v1/things/a?nope=1", 'the parameter "nope" is not known'],
    ["GET /v1/things/a?part.nope=1", 'the parameter "part.nope" is not known'],
    ["GET /v1/things/a?small.nope=1", 'the parameter "small.nope" is not known'],
    ["GET /v1/things/a?wrapped_text.value=1", 'the parameter "wrapped_text.value" is not known'],
    ["GET /v1/things/a?__proto__=1", 'the parameter "__proto__" is not known'],
    ["GET /v1/things/a?constructor.name=1", 'the parameter "constructor.name" is not known'],
    ["GET /v1/things/a?=1", 'the parameter "" is not known'],
    ["GET /v1/things/a?name=b", 'the parameter "name" is already given by the path or the body'],
    ["GET /v1/things/a?parts=1", 'the parameter "parts" cannot be given in the query'],
    ["GET /v1/things/a?part=1", 'the parameter "part" cannot be given in the query'],
    ["GET /v1/things/a?labels=1", 'the parameter "labels" cannot be given in the query'],
    ["GET /v1/things/a?object=1", 'the parameter "object" cannot be given in the query'],
    ["GET /v1/things/a?small=1&small=1", 'the parameter "small" is given twice'],
    ["GET /v1/things/a?display_name=1&displayName=1", 'the parameter "displayName" is given twice'],
    ["GET /v1/things/a?small=", 'the parameter "small" must be an int32'],
    ["GET /v1/things/a?small=1.5", 'the parameter "small" must be an int32'],
    ["GET /v1/things/a?small=0x1", 'the parameter "small" must be an int32'],
    ["GET /v1/things/a?small=%201", 'the parameter "small" must be an int32'],
    ["GET /v1/things/a?small=2147483648", 'the parameter "small" must be an int32'],
    ["GET /v1/things/a?count=-1", 'the parameter "count" must be a uint32'],
    ["GET /v1/things/a?big=9223372036854775808", 'the parameter "big" must be an int64'],
    ["GET /v1/things/a?huge=18446744073709551616", 'the parameter "huge" must be a uint64'],
    ["GET /v1/things/a?flag=yes", 'the parameter "flag" must be true or false'],
    ["GET /v1/things/a?single=1e39", 'the parameter "single" must be a float'],
    ["GET /v1/things/a?precise=x", 'the parameter "precise" must be a double'],
    ["GET /v1/things/a?data=!", 'the parameter "data" must be bytes in base64'],
    [
      "GET /v1/things/a?color=BLUE",
      'the parameter "color" must be the name or the number of a Color',
    ],
    [
      "GET /v1/things/a?time=yesterday",
      'the parameter "time" must be a time such as 2026-01-31T12:00:00Z',
    ],
    // A name in another message, or in its JSON form, is named as it was sent.
    ["GET /v1/things/a?inner.big=x", 'the parameter "inner.big" must be an int64'],
    [
      "GET /v1/things/a?displayName=a&inner.inner.flag=yes",
      'the parameter "inner.inner.flag" must be true or false',
    ],
    ["GET /v1/things/a?span=5", 'the parameter "span" must be a duration such as 1.5s'],
    [
      "GET /v1/things/a?choice_text=a&choice_number=1",
      'the parameter "choice_number" and another field of "choice" cannot both be given',
    ],
    ["GET /v1/things/a?x=%zz", 'the parameter "x" has a malformed escape'],
    ["GET /v1/things/a?display_name=%c0%80", 'the parameter "display_name" has a malformed escape'],
    ["GET /v1/things/a?display_name=%00", 'the parameter "display_name" has a malformed escape'],
    ["GET /v1/things/a?%ff=1", "the query has a malformed escape"],
    [`GET /v1/things/a?${"tags=1&".repeat(257)}`, "the query has more than 256 parameters"],
    [`GET /v1/things/a?${"inner.".repeat(16)}name=1`, /is nested too deep$/],
    ["GET /v1/long/x/1/true/2026-01-31T12:00:00Z", 'the path variable "big" must be an int64'],
  ])("%s", async (request, message) => {
    const { status, json } = await call(request);
    expect(json).toMatchObject({ status: 400, code: "INVALID_ARGUMENT" });
    expect(json["message"]).toMatch(message);
    expect(status).toBe(400);
    expect(seen).toBeUndefined();
  });

  it.each([
    ["POST /v1/things", "{", "the body is not valid JSON"],
    ["POST /v1/things", "null", "the body must be an object"],
    ["POST /v1/things", "[]", "the body must be an object"],
    ["POST /v1/things", '{"nope":1}', 'the field "nope" is not known'],
    ["POST /v1/things", '{"part":{"nope":1}}', 'the field "part.nope" is not known'],
    [
      "POST /v1/things",
      '{"parts":[{},{"weight":"x"}]}',
      'the field "parts[1].weight" must be an int32',
    ],
    [
      "POST /v1/things",
      '{"partsById":{"1":{"weight":{}}}}',
      /"partsById\[.+1.+\]\.weight" must be an int32/,
    ],
    ["POST /v1/things", '{"partsById":{"x":{}}}', /^the field "partsById/],
    ["POST /v1/things", '{"tags":"x"}', 'the field "tags" must be a list'],
    ["POST /v1/things", '{"tags":["x",1]}', 'the field "tags[1]" must be a string'],
    ["POST /v1/things", '{"part":[]}', 'the field "part" must be an object'],
    ["POST /v1/things", '{"name":1}', 'the field "name" must be a string'],
    [
      "POST /v1/things",
      '{"time":"x"}',
      'the field "time" must be a time such as 2026-01-31T12:00:00Z',
    ],
    [
      "POST /v1/things",
      '{"color":"BLUE"}',
      'the field "color" must be the name or the number of a Color',
    ],
    ["POST /v1/things", '{"any":{"@type":"x/nope.Nope"}}', 'the field "any" is not valid'],
    [
      "POST /v1/things",
      '{"choiceText":"a","choiceNumber":1}',
      'the field "choiceNumber" and "choiceText" cannot both be given',
    ],
    [
      "POST /v1/things",
      '{"displayName":"a","display_name":"a"}',
      'the field "display_name" and "displayName" cannot both be given',
    ],
    [
      "POST /v1/things",
      '{"name":"a","name":"b"}',
      "the body has an object in which a key occurs twice",
    ],
    [
      "POST /v1/things",
      '{"name":"a","\\u006eame":"b"}',
      "the body has an object in which a key occurs twice",
    ],
    [
      "POST /v1/things",
      '{"object":{"a":{"b":1,"b":2}}}',
      "the body has an object in which a key occurs twice",
    ],
    ["POST /v1/things", '{"object":{"__proto__":{"x":1}}}', 'the body has a key "__proto__"'],
    [
      "POST /v1/things",
      `{"anything":${"[".repeat(101)}${"]".repeat(101)}}`,
      "the body is nested deeper than 100 levels",
    ],
    ["POST /v1/things?small=1", "{}", 'the parameter "small" must be given in the body'],
    [
      "PUT /v1/things/a",
      '{"part":{"partId":"b"}}',
      'the body has another value for "part.part_id" than the path',
    ],
    [
      "PATCH /v1/whole/2026-01-31T12:00:00Z",
      '{"time":"2026-01-31T12:00:01Z"}',
      'the body has another value for "time" than the path',
    ],
    [
      "PATCH /v1/box/a",
      '{"name":"b"}',
      'the body has another value for "thing.name" than the path',
    ],
    [
      "PATCH /v1/box/a?thing.small=1",
      "{}",
      'the parameter "thing.small" is already given by the path or the body',
    ],
    ["POST /v1/box/tags", '{"a":1}', 'the field "tags" must be a list'],
    ["POST /v1/box/number", '"x"', 'the field "number" must be an int64'],
    ["DELETE /v1/things/a", "{}", "this request must not have a body"],
  ])("%s %s", async (request, body, message) => {
    const { status, json } = await call(request, body);
    expect(json["message"]).toMatch(message);
    expect(status).toBe(400);
    expect(seen).toBeUndefined();
  });

  it("quotes nothing of a body that is not UTF-8", async () => {
    const body = new Uint8Array([123, 34, 0xc0, 0x80, 34, 125]);
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${running.origin}/v1/things`, { method: "POST", headers, body });
    expect(await response.json()).toMatchObject({ message: "the body is not valid UTF-8" });
  });
});

describe("a request", () => {
  const TIME = "2026-01-31T12:00:00Z";

  it.each<[string, string | undefined, object]>([
    ["GET /v1/things/a", undefined, { name: "a" }],
    ["GET /v1/things/a%2Fb%20c", undefined, { name: "a/b c" }],
    ["GET /v1/things/%C3%A4;x=1", undefined, { name: "ä;x=1" }],
    ["GET /v1/things/%252e%252e", undefined, { name: "%2e%2e" }],
    ["GET /v1/files/a/b%2Fc%20d", undefined, { name: "a/b%2Fc d" }],
    ["GET /v1/files/", undefined, {}],
    ["GET /v1/files", undefined, {}],
    ["GET /v1/named/projects/p/things/t%2Fu", undefined, { name: "projects/p/things/t%2Fu" }],
    ["GET /v1/named/projects/p:verb", undefined, { name: "projects/p" }],
    ["GET /v1/deep/7", undefined, { inner: { inner: { part: { weight: 7 } } } }],
    ["GET /v1/one/x", undefined, { choicePart: { partId: "x" } }],
    [
      `GET /v1/long/-9223372036854775808/COLOR_RED/true/${TIME}`,
      undefined,
      { big: "-9223372036854775808", color: "COLOR_RED", flag: true, time: TIME },
    ],
    [
      "GET /v1/bytes/_-8/1.5s/displayName,part.partId/5",
      undefined,
      { data: "/+8=", span: "1.500s", mask: "displayName,part.partId", wrappedLong: "5" },
    ],
    [
      "GET /v1/things/a?color=2&colors=COLOR_RED&colors=2",
      undefined,
      { name: "a", color: "COLOR_GREEN", colors: ["COLOR_RED", "COLOR_GREEN"] },
    ],
    ["GET /v1/things/a?display_name=x+y%2Bz&&", undefined, { name: "a", displayName: "x y+z" }],
    [
      "GET /v1/things/a?displayName=x&maybe=0",
      undefined,
      { name: "a", displayName: "x", maybe: 0 },
    ],
    [
      "GET /v1/things/a?tags=x&tags=&numbers=1&numbers=-2",
      undefined,
      { name: "a", tags: ["x", ""], numbers: [1, -2] },
    ],
    [
      "GET /v1/things/a?part.part_id=p&part.weight=3&inner.part.partId=q",
      undefined,
      { name: "a", part: { partId: "p", weight: 3 }, inner: { part: { partId: "q" } } },
    ],
    [
      "GET /v1/things/a?choice_part.part_id=p&choicePart.weight=1",
      undefined,
      { name: "a", choicePart: { partId: "p", weight: 1 } },
    ],
    [
      "GET /v1/things/a?single=1.5&precise=-1e300",
      undefined,
      { name: "a", single: 1.5, precise: -1e300 },
    ],
    [
      "GET /v1/things/a?precise=NaN&single=-Infinity",
      undefined,
      { name: "a", precise: "NaN", single: "-Infinity" },
    ],
    [
      "GET /v1/things/a?huge=18446744073709551615&text_long=-5",
      undefined,
      { name: "a", huge: "18446744073709551615", textLong: "-5" },
    ],
    [
      "GET /v1/things/a?wrapped_text=&wrapped_flag=false",
      undefined,
      { name: "a", wrappedText: "", wrappedFlag: false },
    ],
    [`GET /v1/things/a?times=${TIME}&times=${TIME}`, undefined, { name: "a", times: [TIME, TIME] }],
    [
      "POST /v1/things",
      '{"name":"a","part":{"weight":2},"labels":{"k":"v"},"anything":null}',
      { name: "a", part: { weight: 2 }, labels: { k: "v" }, anything: null },
    ],
    [
      "POST /v1/things",
      '{"display_name":"a:b,{\\"x\\":1}","object":{"a":[1,{"b":null}]}}',
      { displayName: 'a:b,{"x":1}', object: { a: [1, { b: null }] } },
    ],
    [
      "POST /v1/things",
      '{"any":{"@type":"type.googleapis.com/fixture.v1.Part","weight":1}}',
      { any: { "@type": "type.googleapis.com/fixture.v1.Part", weight: 1 } },
    ],
    ["POST /v1/things", "", {}],
    ["PUT /v1/things/a", '{"small":1}', { small: 1, part: { partId: "a" } }],
    [
      "PUT /v1/things/a",
      '{"part":{"partId":"a","weight":1}}',
      { part: { partId: "a", weight: 1 } },
    ],
    [`PATCH /v1/whole/${TIME}`, `{"time":"${TIME}"}`, { time: TIME }],
  ])("%s %s", async (request, body, expected) => {
    const { status, json } = await call(request, body);
    expect({ status, json }).toMatchObject({ status: 200 });
    expect(toThing(seen)).toEqual(expected);
  });

  it.each<[string, string, object]>([
    [
      "PATCH /v1/box/a?validate_only=true",
      '{"small":1}',
      { thing: { name: "a", small: 1 }, validateOnly: true },
    ],
    ["POST /v1/box/tags?owner=me", '["a","b"]', { tags: ["a", "b"], owner: "me" }],
    ["POST /v1/box/counts", '{"a":1}', { counts: { a: 1 } }],
    ["POST /v1/box/number", '"12"', { number: "12" }],
    ["POST /v1/box/color", "2", { color: "COLOR_GREEN" }],
    ["POST /v1/box/time", `"${TIME}"`, { time: TIME }],
  ])("%s with the body field %s", async (request, body, expected) => {
    expect(await call(request, body)).toMatchObject({ status: 200 });
    expect(toJson(ThingBoxSchema, seen as ThingBox)).toEqual(expected);
  });
});

describe("a response", () => {
  it("has fields without presence even with their defaults, by their JSON names", async () => {
    const { json } = await call("GET /v1/things/a");
    expect(json).toMatchObject({ name: "a", displayName: "", flag: false, big: "0", tags: [] });
    expect(json).not.toHaveProperty("part");
    expect(json).not.toHaveProperty("maybe");
    expect(json).not.toHaveProperty("choiceText");
  });

  it("of Empty is {}", async () => {
    expect(await call("DELETE /v1/things/a")).toEqual({ status: 200, json: {} });
  });

  it.each<[string, string, Partial<ThingBox>, unknown]>([
    ["POST /v1/box/tags", "[]", { tags: ["x"] }, ["x"]],
    ["POST /v1/box/tags", "[]", {}, []],
    ["POST /v1/box/counts", "{}", { counts: { a: 1 } }, { a: 1 }],
    ["POST /v1/box/number", "1", { number: 5n }, "5"],
    ["POST /v1/box/number", "1", {}, "0"],
    ["POST /v1/box/color", "1", { color: 1 }, "COLOR_RED"],
    ["POST /v1/box/time", "null", {}, null],
    ["PATCH /v1/box/a", "{}", {}, null],
  ])("is one field: %s %s", async (request, body, given, expected) => {
    answer = given;
    expect(await call(request, body)).toEqual({ status: 200, json: expected });
  });

  it("is one message", async () => {
    answer = { thing: create(ThingSchema, { name: "x" }) };
    const { json } = await call("PATCH /v1/box/a", "{}");
    expect(json).toMatchObject({ name: "x", small: 0 });
  });

  it("that JSON cannot represent is INTERNAL, also for logs and audit", async () => {
    answer = { time: { $typeName: "google.protobuf.Timestamp", seconds: 1n << 60n, nanos: 0 } };
    expect(await call("POST /v1/box/time", "null")).toMatchObject({
      status: 500,
      json: { code: "INTERNAL", message: "internal error" },
    });
    expect(ended.at(-1)).toMatchObject({ code: "INTERNAL", cause: { message: /must be from/ } });
  });
});

function toThing(message: Message | undefined): unknown {
  return toJson(ThingSchema, message as Thing, { registry });
}
