/** Images share files; what reads them together must not depend on which copy comes first. */
import { describe, expect, test } from "vitest";
import { fileName } from "../../../src/api/descriptors/code-generator-request.ts";
import type { DescriptorFile } from "../../../src/api/descriptors/file-outline.ts";
import { readImage } from "../../../src/api/descriptors/image.ts";
import { readApi } from "../../../src/compiler/read/read-api.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import { emitPolicies } from "../../../src/emit/policies.ts";
import { emitServer } from "../../../src/emit/server/server.ts";
import { Workspace } from "../../support/workspace.ts";

/** The image of a service, and of the file that it shares with others. */
function image(name: string, shared: string, options: { readonly whole?: boolean } = {}) {
  using workspace = new Workspace({
    "shared/v1/shared.proto": `syntax = "proto3"; package shared.v1;\n${shared}`,
    [`${name}/v1/${name}.proto`]: `syntax = "proto3"; package ${name}.v1;
import "shared/v1/shared.proto";
import "svc/access/v1/policy.proto";
service S { rpc Get(shared.v1.Request) returns (shared.v1.Response) {
  option (svc.access.v1.policy) = {exposure: AUTHORIZED authz: {action: "view" resource: "thing:{id}"}};
} }`,
  });
  const files = readImage(workspace.build(), name);
  return files.map(({ bytes }) => {
    return { bytes, target: options.whole === true || fileName(bytes).startsWith(`${name}/`) };
  });
}

const BASE = `message Request { string id = 1; Color color = 2; }
message Response { Request request = 1; }
enum Color { COLOR_UNSPECIFIED = 0; COLOR_RED = 1; }
service Shared { rpc Ask(Request) returns (Response); }`;

const CONFIG = `services: {a: {packages: [a.v1]}, b: {packages: [b.v1]}, c: {packages: [c.v1]}}
clients: [shared.v1]`;

function configOf(text: string) {
  const { loaded } = loadConfig(text, "svc-access.yaml", {});
  if (loaded === undefined) throw new Error("the configuration is not valid");
  return loaded;
}

/** Every order of the inputs. */
function orders<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) =>
    orders(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  );
}

const read = (inputs: readonly (readonly DescriptorFile[])[], config = CONFIG) =>
  readApi(inputs, configOf(config));

describe("images that each contain all files as targets", () => {
  test("are one platform, with each shared file once", () => {
    const inputs = ["a", "b", "c"].map((name) => image(name, BASE, { whole: true }));
    const results = orders(inputs).map((each) => read(each));
    expect(new Set(results.map(({ api }) => JSON.stringify(api))).size).toBe(1);
    const [first] = results;
    expect(first?.rpcs).toBe(3);
    expect(first?.api.clients.map(({ fullName }) => fullName)).toEqual(["shared.v1.Shared"]);
    const names = first?.files.map(({ name }) => name) ?? [];
    expect(new Set(names).size).toBe(names.length);
  });

  test.each([
    ["comments", `// Other words.\n${BASE}`],
    ["the order of the text", BASE.split("\n").reverse().join("\n")],
  ])("may differ in %s", (_, text) => {
    const inputs = [image("a", BASE, { whole: true }), image("b", text, { whole: true })];
    for (const each of orders(inputs)) expect(read(each).rpcs).toBe(2);
  });

  test("may be of two versions, if the later one contains all of the earlier one", () => {
    const later = `${BASE.replace("string id = 1;", "string id = 1; string more = 9;").replace("COLOR_RED = 1;", "COLOR_RED = 1; COLOR_BLUE = 2;").replace("(Response); }", "(Response); rpc Later(Request) returns (Response); }")}
message Added { string id = 1; }`;
    const inputs = [
      image("a", BASE, { whole: true }),
      image("b", later, { whole: true }),
      image("c", BASE, { whole: true }),
    ];
    for (const each of orders(inputs)) {
      const { api, messages } = read(each);
      expect(api.clients[0]?.rpcs.map(({ name }) => name)).toEqual(["Ask", "Later"]);
      expect(messages.lookup("shared.v1.Request", "more")).toMatchObject({ status: "found" });
      expect(messages.fileOf("shared.v1.Added")).toBeDefined();
    }
  });

  test("may be of three versions, if the last one contains all of the others", () => {
    const first = BASE.replace("string id = 1;", "string id = 1; string one = 8;");
    const second = BASE.replace("string id = 1;", "string id = 1; string two = 9;");
    const both = BASE.replace("string id = 1;", "string id = 1; string one = 8; string two = 9;");
    const inputs = [image("a", first, { whole: true }), image("b", second, { whole: true })];
    for (const each of orders([...inputs, image("c", both, { whole: true })])) {
      expect(read(each).rpcs).toBe(3);
    }
  });
});

describe.each([
  [
    "the type of a field",
    BASE.replace("string id = 1", "int64 id = 1"),
    'field 1 of shared.v1.Request is "int64 id" in one and "string id" in the other',
  ],
  ["the name of a field", BASE.replace("string id", "string key"), "field 1 of shared.v1.Request"],
  ["the number of a field", BASE.replace("string id = 1", "string id = 7"), "of shared.v1.Request"],
  ["the label of a field", BASE.replace("string id", "repeated string id"), "field 1 of"],
  [
    "the presence of a field",
    BASE.replace("string id", "optional string id"),
    'field 1 of shared.v1.Request is "optional string id" in one and "string id" in the other',
  ],
  [
    "the oneof of a field",
    BASE.replace("string id = 1;", "oneof which { string id = 1; }"),
    'field 1 of shared.v1.Request is "oneof which string id" in one and "string id" in the other',
  ],
  ["the number of a value", BASE.replace("COLOR_RED = 1", "COLOR_RED = 2"), "COLOR_RED of"],
  ["the name of a value", BASE.replace("COLOR_RED", "COLOR_BLUE"), "of shared.v1.Color"],
  [
    "a field more in each",
    BASE.replace("Color color = 2;", "").replace("string id = 1;", "string id = 1; bool a = 9;"),
    "only one has field",
  ],
])("copies that differ in %s", (_, other, difference) => {
  test("are an error if inputs target the file", () => {
    const inputs = [image("a", BASE, { whole: true }), image("b", other, { whole: true })];
    const errors = orders(inputs).map((each) => {
      expect(() => read(each)).toThrow(difference);
      return messageOf(() => read(each));
    });
    expect(new Set(errors).size).toBe(1);
    expect(errors[0]).toMatch(
      /^two inputs contain different files named shared\/v1\/shared\.proto: .*; build all inputs from one version of it \(rebuild the older image\), or give each repository its own folder$/,
    );
  });

  test("are an error if they are imported and one of their messages is needed", () => {
    for (const each of orders([image("a", BASE), image("b", other)])) {
      expect(() => read(each)).toThrow(difference);
    }
  });
});

test("copies that contradict each other and are needed by nothing are not an error", () => {
  const definition = (text: string) => {
    using workspace = new Workspace({ "x/v1/x.proto": `syntax = "proto3"; package x.v1; ${text}` });
    return readImage(workspace.build(), "x").map(({ bytes }) => ({ bytes, target: false }));
  };
  const [one] = definition("message X { string a = 1; }");
  const [two] = definition("message X { bool a = 1; }");
  if (one === undefined || two === undefined) throw new Error("there are files");
  for (const each of orders([
    [...image("a", BASE, { whole: true }), one],
    [...image("b", BASE, { whole: true }), two],
  ])) {
    expect(read(each).rpcs).toBe(2);
  }
});

describe("copies of clients that contradict each other", () => {
  /** A service with messages of its own, beside a client's copy of a file. */
  const beside = (name: string, shared: string) => {
    using workspace = new Workspace({
      "shared/v1/shared.proto": `syntax = "proto3"; package shared.v1;\n${shared}`,
      [`${name}/v1/${name}.proto`]: `syntax = "proto3"; package ${name}.v1;
import "svc/access/v1/policy.proto";
message Request {} message Response {}
service S { rpc Get(Request) returns (Response) {
  option (svc.access.v1.policy) = {exposure: AUTHENTICATED};
} }`,
    });
    return readImage(workspace.build(), name).map(({ bytes }) => ({ bytes, target: true }));
  };
  const inputs = [
    beside("a", BASE),
    beside("b", BASE.replace("string id = 1", "int64 id = 1").replace("rpc Ask", "rpc Tell")),
  ];

  test("are not an error for policies and routes", () => {
    for (const each of orders(inputs)) {
      const { api } = read(each);
      const { files } = emitPolicies({ api, config: undefined });
      expect(files.map(({ name }) => name)).toEqual([
        "policies.json",
        "a/v1/a_access.ts",
        "b/v1/b_access.ts",
      ]);
    }
  });

  test("are an error for the generated clients", () => {
    for (const each of orders(inputs)) {
      const input = { ...read(each), config: undefined, importOptions: [] };
      expect(() => emitServer(input)).toThrow(
        "two inputs contain different files named shared/v1/",
      );
    }
  });
});

test("deployed services must be identical in each copy", () => {
  const later = BASE.replace(
    "(Response); }",
    "(Response); rpc Later(Request) returns (Response); }",
  );
  const served = `services: {a: {packages: [a.v1]}, b: {packages: [b.v1, shared.v1]}}`;
  for (const each of orders([
    image("a", BASE, { whole: true }),
    image("b", later, { whole: true }),
  ])) {
    expect(() => read(each, served)).toThrow(
      "two inputs contain different files named shared/v1/shared.proto: only one has shared.v1.Shared/Later (shared.v1.Request to shared.v1.Response, unary); build",
    );
  }
});

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

test.each([
  ["the access policy", "exposure: PUBLIC", "exposure: INTERNAL", ""],
  ["an option", "exposure: PUBLIC", "exposure: PUBLIC", "option deprecated = true;"],
  [
    "google.api.http",
    "exposure: PUBLIC",
    "exposure: PUBLIC",
    'option (google.api.http) = {get: "/v1/a"};',
  ],
])("%s of a served RPC that differs is named", (what, one, two, more) => {
  const copy = (policy: string, option: string) => {
    using workspace = new Workspace({
      "s/v1/s.proto": `syntax = "proto3"; package s.v1;
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
message M {}
service S { rpc Get(M) returns (M) { option (svc.access.v1.policy) = {${policy}}; ${option} } }`,
    });
    return readImage(workspace.build(), "s");
  };
  for (const each of orders([copy(one, ""), copy(two, more)])) {
    expect(() => readApi(each, undefined)).toThrow(
      `two inputs contain different files named s/v1/s.proto: ${what} of s.v1.S/Get differs; build all inputs from one version of it`,
    );
  }
});
