import { type DescMessage, getExtension, type Message, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  AllSchema,
  BodiesSchema,
  FlatSchema,
} from "../unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import { bindKindService } from "../unusual-protos/gen/unusual/kinds/v1/kinds_server.ts";
import { extra, type Old, OldSchema } from "../unusual-protos/gen/unusual/legacy/v1/legacy_pb.ts";
import { bindLegacyService } from "../unusual-protos/gen/unusual/legacy/v1/legacy_server.ts";
import { startUnusual, type UnusualServer } from "../unusual-protos/unusual-server.ts";

let server: UnusualServer;

beforeAll(async () => {
  server = await startUnusual([bindKindService, bindLegacyService]);
});
beforeEach(() => {
  server.seen.length = 0;
});
afterAll(() => server.stop());

async function call(text: string, body?: string) {
  const [method = "", path = ""] = text.split(" ");
  const response = await fetch(`http://127.0.0.1:${server.http}${path}`, {
    method,
    ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
  });
  return { status: response.status, text: await response.text() };
}

/** The request as its handler got it. */
function seen(desc: DescMessage): unknown {
  return toJson(desc, server.seen[0]?.request as Message);
}

describe("JSON that is not a value of the type is refused", () => {
  const DATE = "2026-01-31T12:00:00Z";
  it.each([
    [
      '{"flat":{"time":"2026-02-29T12:00:00Z"}}',
      `the field "flat.time" must be a time such as ${DATE}`,
    ],
    [
      '{"flat":{"time":"2100-02-29T12:00:00Z"}}',
      `the field "flat.time" must be a time such as ${DATE}`,
    ],
    [
      '{"flat":{"time":"2026-04-31T12:00:00Z"}}',
      `the field "flat.time" must be a time such as ${DATE}`,
    ],
    [
      '{"flat":{"time":"2026-00-10T12:00:00Z"}}',
      `the field "flat.time" must be a time such as ${DATE}`,
    ],
    [
      '{"flat":{"time":"2026-01-00T12:00:00Z"}}',
      `the field "flat.time" must be a time such as ${DATE}`,
    ],
    [
      '{"flat":{"time":"2026-01-31T24:00:00Z"}}',
      `the field "flat.time" must be a time such as ${DATE}`,
    ],
    [
      `{"flat":{"times":["${DATE}","2026-06-31T12:00:00Z"]}}`,
      `the field "flat.times[1]" must be a time such as ${DATE}`,
    ],
    ['{"times":{"a":"2026-06-31T12:00:00Z"}}', 'the field "times[\\"a\\"]" is not valid'],
    ['{"flat":{"span":"1s1"}}', 'the field "flat.span" must be a duration such as 1.5s'],
    [
      '{"flat":{"spans":["1s","1ss"]}}',
      'the field "flat.spans[1]" must be a duration such as 1.5s',
    ],
    [
      '{"any":{"@type":"x/google.protobuf.Timestamp","value":"2026-06-31T12:00:00Z"}}',
      'the field "any" is not valid',
    ],
    [
      '{"any":{"@type":"x/unusual.kinds.v1.Flat","time":"2026-06-31T12:00:00Z"}}',
      'the field "any" is not valid',
    ],
    [
      '{"any":{"@type":"x/google.protobuf.Duration","value":"1s","nope":1}}',
      'the field "any" is not valid',
    ],
    [
      '{"any":{"@type":"x/google.protobuf.Empty","value":{"nope":1}}}',
      'the field "any" is not valid',
    ],
    ['{"anything":"\\ud800"}', "the body has a text that is not Unicode"],
    ['{"object":{"a":["\\uDC00\\ud800"]}}', "the body has a text that is not Unicode"],
    ['{"texts":{"\\ud83d":"a"}}', "the body has a text that is not Unicode"],
    ['{"flat":{"big":" 1"}}', 'the field "flat.big" must be an int64'],
    ['{"flat":{"big":"1\\n"}}', 'the field "flat.big" must be an int64'],
    ['{"flat":{"big":"0x1"}}', 'the field "flat.big" must be an int64'],
    ['{"flat":{"big":"+1"}}', 'the field "flat.big" must be an int64'],
    ['{"flat":{"big":"1.5"}}', 'the field "flat.big" must be an int64'],
    ['{"flat":{"big":1e-400}}', 'the field "flat.big" must be an int64'],
    ['{"flat":{"big":9007199254740991.4}}', 'the field "flat.big" must be an int64'],
    ['{"flat":{"small":"01"}}', 'the field "flat.small" must be an int32'],
    ['{"flat":{"small":"5."}}', 'the field "flat.small" must be an int32'],
    ['{"flat":{"wrappedSmall":"0x1"}}', 'the field "flat.wrappedSmall" must be an int32'],
    ['{"flat":{"huges":[1," 2"]}}', 'the field "flat.huges[1]" must be a uint64'],
    ['{"flat":{"real":".5"}}', 'the field "flat.real" must be a double'],
    ['{"flat":{"wrappedReal":"0x1"}}', 'the field "flat.wrappedReal" must be a double'],
    ['{"flat":{"data":"YQ="}}', 'the field "flat.data" must be bytes in base64'],
    ['{"flat":{"data":"YQ==YQ=="}}', 'the field "flat.data" must be bytes in base64'],
    ['{"flat":{"data":"Y Q=="}}', 'the field "flat.data" must be bytes in base64'],
    ['{"flat":{"wrappedData":"=YQ="}}', 'the field "flat.wrappedData" must be bytes in base64'],
    ['{"datas":{"1.0":""}}', 'the field "datas[\\"1.0\\"]" is not valid'],
    ['{"shades":{" 1":1}}', 'the field "shades[\\" 1\\"]" is not valid'],
    ['{"anything":1e400}', "the body has a number that is too large"],
    ['{"object":{"a":[-1e400]}}', "the body has a number that is too large"],
    ['{"flat":{"big":9223372036854775808}}', 'the field "flat.big" must be an int64'],
    ['{"flat":{"big":-9223372036854775809}}', 'the field "flat.big" must be an int64'],
    ['{"flat":{"huge":18446744073709551616}}', 'the field "flat.huge" must be a uint64'],
    ['{"flat":{"wrappedBig":9223372036854775808}}', 'the field "flat.wrappedBig" must be an int64'],
    ['{"flat":{"small":12345678901234567}}', 'the field "flat.small" must be an int32'],
    ['{"flat":{"text":12345678901234567}}', 'the field "flat.text" must be a string'],
    ['{"flat":{"data":1234567890123456}}', 'the field "flat.data" must be bytes in base64'],
    [
      '{"flat":{"shade":12345678901234567}}',
      'the field "flat.shade" must be the name or the number of a Shade',
    ],
    ['{"flat":12345678901234567}', 'the field "flat" must be an object'],
    ['{"alls":12345678901234567}', 'the field "alls" must be a list'],
    ["12345678901234567", "the body must be an object"],
    [
      '{"kindText":"a","kindNull":null}',
      'the field "kindNull" and "kindText" cannot both be given',
    ],
    [
      '{"kindValue":null,"kindText":"a"}',
      'the field "kindText" and "kindValue" cannot both be given',
    ],
  ])("%s", async (body, message) => {
    const { status, text } = await call("POST /v1/whole", body);
    expect(JSON.parse(text)).toMatchObject({ code: "INVALID_ARGUMENT", message });
    expect(status).toBe(400);
    expect(server.seen).toEqual([]);
  });

  it.each([
    [
      "time=2026-02-29T12:00:00Z",
      'the parameter "time" must be a time such as 2026-01-31T12:00:00Z',
    ],
    ["span=1s1", 'the parameter "span" must be a duration such as 1.5s'],
    ["data=YQ%3D", 'the parameter "data" must be bytes in base64'],
    ["mask=a_1", 'the parameter "mask" must be a field mask such as displayName,labels'],
    ["mask=otherName_x", 'the parameter "mask" must be a field mask such as displayName,labels'],
    ["flat=x", 'the parameter "flat" cannot be given in the query'],
    [
      "chosen_text=a&chosen_nothing=",
      'the field "chosen_nothing" and another field of "choice" cannot both be given',
    ],
  ])("in a query: %s", async (query, message) => {
    const { text } = await call(`GET /v1/query?${query}`);
    expect(JSON.parse(text)).toMatchObject({ status: 400, message });
    expect(server.seen).toEqual([]);
  });

  it.each([
    [
      '{"key":"k","[unusual.legacy.v1.extra]":"x"}',
      'the field "[unusual.legacy.v1.extra]" is not valid',
    ],
    [
      '{"key":"k","[unusual.legacy.v1.nope]":1}',
      'the field "[unusual.legacy.v1.nope]" is not known',
    ],
    ['{"[unusual.legacy.v1.extra]":1,"key":5}', 'the field "key" must be a string'],
  ])("in an extension: %s", async (body, message) => {
    const { text } = await call("POST /v1/legacy", body);
    expect(JSON.parse(text)).toMatchObject({ status: 400, message });
  });
});

describe("JSON numbers are read exactly", () => {
  it.each<[string, object]>([
    ['{"flat":{"big":9007199254740993}}', { flat: { big: "9007199254740993" } }],
    ['{"flat":{"big":-9223372036854775808}}', { flat: { big: "-9223372036854775808" } }],
    [
      '{"flat":{"bigSigned":9007199254740993,"bigFixed":9007199254740995}}',
      { flat: { bigSigned: "9007199254740993", bigFixed: "9007199254740995" } },
    ],
    [
      '{"flat":{"huge":18446744073709551615,"hugeFixed":9007199254740993}}',
      { flat: { huge: "18446744073709551615", hugeFixed: "9007199254740993" } },
    ],
    ['{"flat":{"huges":[9007199254740993,1]}}', { flat: { huges: ["9007199254740993", "1"] } }],
    [
      '{"flat":{"wrappedBig":9007199254740993,"wrappedHuge":18446744073709551615}}',
      { flat: { wrappedBig: "9007199254740993", wrappedHuge: "18446744073709551615" } },
    ],
    [
      '{"flat":{"chosenHuge":18446744073709551615}}',
      { flat: { chosenHuge: "18446744073709551615" } },
    ],
    ['{"flats":{"a":{"big":9007199254740993}}}', { flats: { a: { big: "9007199254740993" } } }],
    [
      '{"rest":{"alls":[{"flat":{"big":9007199254740993}}]}}',
      { rest: { alls: [{ flat: { big: "9007199254740993" } }] } },
    ],
    // Where the field holds no more than a number of JavaScript does, it is that number.
    [
      '{"flat":{"real":12345678901234567890,"wrappedReal":100000000000000000000}}',
      { flat: { real: 12345678901234567000, wrappedReal: 1e20 } },
    ],
    [
      '{"anything":[9007199254740993],"object":{"a":9007199254740993}}',
      { anything: [9007199254740992], object: { a: 9007199254740992 } },
    ],
    [
      '{"flat":{"text":"9007199254740993","data":"1234567890123456"}}',
      { flat: { text: "9007199254740993", data: "1234567890123456" } },
    ],
    ['{"flat":{"big":1e3,"small":1e2}}', { flat: { big: "1000", small: 100 } }],
    ['{"flat":{"big":9007199254740993.0}}', { flat: { big: "9007199254740993" } }],
    ['{"flat":{"big":9.007199254740993e15}}', { flat: { big: "9007199254740993" } }],
    ['{"flat":{"big":-90071992547409930E-1}}', { flat: { big: "-9007199254740993" } }],
    ['{"flat":{"big":1.23456789012345e18}}', { flat: { big: "1234567890123450000" } }],
    [
      '{"flat":{"bigFixed":9223372036854775807.0,"huge":18446744073709551615.00}}',
      { flat: { bigFixed: "9223372036854775807", huge: "18446744073709551615" } },
    ],
    // As text, too, an integer may have a point and an exponent.
    [
      '{"flat":{"big":"1e2","bigSigned":"-1.50e1","huge":"9.007199254740993e15"}}',
      { flat: { big: "100", bigSigned: "-15", huge: "9007199254740993" } },
    ],
    [
      '{"flat":{"small":"1E2","smallUnsigned":"100e-2","wrappedBig":"0e99"}}',
      { flat: { small: 100, smallUnsigned: 1, wrappedBig: "0" } },
    ],
    [
      '{"flat":{"real":1e-400,"wrappedReal":"-1.5e3","reals":["NaN","-Infinity"]}}',
      { flat: { wrappedReal: -1500, reals: ["NaN", "-Infinity"] } },
    ],
    ['{"flat":{"text":"\\ud83d\\ude00"}}', { flat: { text: "😀" } }],
    [
      '{"flat":{"data":"_-8","wrappedData":"+/8=","datas":["YQ","YQ=="]}}',
      { flat: { data: "/+8=", wrappedData: "+/8=", datas: ["YQ==", "YQ=="] } },
    ],
    ['{"datas":{"01":"","-2":""}}', { datas: { "1": "", "-2": "" } }],
    [
      '{"flat":{"time":"2024-02-29T23:59:59+14:00","span":"-0.000000001s"}}',
      { flat: { time: "2024-02-29T09:59:59Z", span: "-0.000000001s" } },
    ],
    ['{"kindNull":null}', { kindNull: null }],
    ['{"kindText":null,"kindNull":null}', { kindNull: null }],
  ])("%s", async (body, expected) => {
    expect(await call("POST /v1/whole", body)).toMatchObject({ status: 200 });
    expect(seen(AllSchema)).toEqual(expected);
  });

  it("within an Any", async () => {
    const any = '{"@type":"type.googleapis.com/unusual.kinds.v1.Flat","big":9007199254740993}';
    const { text } = await call("POST /v1/body/any", any);
    expect(JSON.parse(text)).toMatchObject({ big: "9007199254740993" });
    const own =
      '{"@type":"type.googleapis.com/google.protobuf.Int64Value","value":9007199254740993}';
    expect(JSON.parse((await call("POST /v1/body/any", own)).text)).toMatchObject({
      value: "9007199254740993",
    });
  });

  it.each(["", ',"value":{}'])(
    "an Any with an Empty%s, as either form is written",
    async (value) => {
      const type = "type.googleapis.com/google.protobuf.Empty";
      const { text } = await call("POST /v1/body/any", `{"@type":"${type}"${value}}`);
      expect(JSON.parse(text)).toEqual({ "@type": type });
    },
  );

  it("in a body that is one field", async () => {
    await call("POST /v1/body/big", "9007199254740993");
    expect(seen(BodiesSchema)).toEqual({ big: "9007199254740993" });
  });

  it("in an extension, which is also returned", async () => {
    const { text } = await call(
      "POST /v1/legacy",
      '{"key":"k","[unusual.legacy.v1.extra]":9007199254740993}',
    );
    expect(getExtension(server.seen[0]?.request as Old, extra)).toBe(9007199254740993n);
    expect(JSON.parse(text)).toMatchObject({
      key: "k",
      "[unusual.legacy.v1.extra]": "9007199254740993",
    });
    expect(OldSchema.typeName).toBe(server.seen[0]?.request.$typeName);
  });
});

describe("a query", () => {
  it.each<[string, object]>([
    ["flat=", { flat: {} }],
    ["flat=&flat.text=a", { flat: { text: "a" } }],
    ["flat.flat", { flat: { flat: {} } }],
    ["chosen_nothing=", { chosenNothing: {} }],
    ["dotted=x&renamed=y&%24select=z", { "a.b": "x", "Other-Name": "y", $select: "z" }],
    ["constructor=x", { constructor: "x" }],
    ["mask=display_name,flat.as_text,x", { mask: "displayName,flat.asText,x" }],
    ["mask=displayName,a_b,*", { mask: "displayName,aB,*" }],
  ])("%s", async (query, expected) => {
    expect(await call(`GET /v1/query?${query}`)).toMatchObject({ status: 200 });
    expect(seen(FlatSchema)).toEqual(expected);
  });
});
