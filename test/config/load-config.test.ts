import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Variables } from "../../src/config/variables.ts";
import { expectFindings, findingsOf } from "./findings.ts";

const load = (text: string, variables: Variables = {}) =>
  loadConfig(text, "svc-access.yaml", variables).loaded;

describe("text that is not a configuration", () => {
  test.each([
    ["an empty file", "⟦", "the file is empty; `svc-access init` writes one"],
    ["white space", "⟦ \n\n", "the file is empty"],
    ["a comment", "⟦# Nothing yet.\n", "the file is empty"],
    ["null", "⟦~\n", "the file must contain keys and values"],
    ["a list at the top", "⟦- environment: x\n", "the file must contain keys and values"],
    ["a word at the top", "⟦hello\n", "the file must contain keys and values"],
    ["a key twice", "environment: a\n⟦environment: b\n", "map keys must be unique"],
    ["a key twice further in", "identity:\n  issuer: a\n  ⟦issuer: b\n", "map keys must be unique"],
    ["a tab", "identity:\n⟦\tissuer: x\n", "tabs are not allowed as indentation; write spaces"],
    [
      "a list that does not end",
      "paths: [\n⟦",
      "flow sequence in block collection must be sufficiently indented and end with a ]",
    ],
    ["a string that does not end", 'model: "x\n⟦', 'missing closing "'],
    ["an unknown tag", "environment: ⟦!foo x\n", "unresolved tag: !foo"],
    ["an alias without an anchor", "model: ⟦*nowhere\n", "unresolved alias"],
  ])("such as %s is refused where it goes wrong", (_, text, message) => {
    expectFindings(text, [`CONFIG_SYNTAX ${message}`]);
  });

  test("such as two documents is rejected with our message", () => {
    const [finding, ...more] = findingsOf("environment: a\n---\nenvironment: b\n");
    expect(more).toEqual([]);
    expect(finding).toContain("2:1 CONFIG_SYNTAX ");
    expect(finding).not.toContain("parseAllDocuments");
  });

  test("such as an alias bomb is refused without being expanded", () => {
    const level = (name: string, of: string) =>
      `${name}: &${name} [${Array(10).fill(of).join(", ")}]`;
    const names = ["b", "c", "d", "e", "f", "g", "h", "i"];
    const lines = names.map((name, index) =>
      level(name, `*${index === 0 ? "a" : names[index - 1]}`),
    );
    const text = ["a: &a [x, x, x, x, x, x, x, x, x, x]", ...lines].join("\n");
    expect(findingsOf(text)).toEqual([
      expect.stringContaining("CONFIG_SYNTAX excessive alias count"),
    ]);
  });

  test("such as one of more than 4 MB is refused before it is parsed", () => {
    expect(findingsOf(`model: ${"x".repeat(4 * 1024 * 1024)}`)).toEqual([
      "1:1 CONFIG_SYNTAX the file has more than 4 MB",
    ]);
  });

  test("with several errors has them all reported", () => {
    expect(findingsOf("environment: a\nenvironment: b\nmodel: c\nmodel: d\n")).toHaveLength(2);
  });
});

describe("the place of a finding", () => {
  test("is the key of a value that is wrong", () => {
    expectFindings("environment: dev\n⟦model: ''\n", [
      "CONFIG_VALUE model must have at least 1 character",
    ]);
  });

  test("is the item of a list", () => {
    expectFindings("services:\n  hub:\n    packages:\n      - hub.v1\n      - ⟦hub/v1\n", [
      "CONFIG_VALUE services.hub.packages[1] must be a protobuf package",
    ]);
  });

  test("is the unknown key, at any level", () => {
    expectFindings(
      "⟦modl: x\nidentity: {issuer: https://a, authorization_endpoint: https://a, token_endpoint: https://a, jwks_uri: https://a, ⟦isuer: x}\n",
      [
        'CONFIG_KEY modl is not a key; did you mean "model"?',
        'CONFIG_KEY identity.isuer is not a key; did you mean "issuer"?',
      ],
    );
  });

  test("is the parent of a missing key", () => {
    expectFindings("services:\n  ⟦hub: {}\n", ["CONFIG_VALUE services.hub.packages is missing"]);
    expectFindings("paths:\n  - ⟦exposure: PUBLIC\n    service: hub\n", [
      "CONFIG_VALUE paths[0].path is missing",
    ]);
  });

  test("is right after Windows line ends and a byte-order mark", () => {
    expectFindings("environment: dev\r\n⟦modl: x\r\n", ["CONFIG_KEY modl is not a key"]);
    expect(load("\ufeffenvironment: dev\n")?.config.environment).toBe("dev");
  });

  test("is found after an alias too", () => {
    expectFindings("services:\n  hub: &hub\n    ⟦packages: []\n  ⟦iam: *hub\n", [
      "CONFIG_VALUE services.hub.packages must have at least 1 item",
      "CONFIG_VALUE services.iam.packages must have at least 1 item",
    ]);
  });
});

test("all errors are reported at once, in the order of the file", () => {
  expectFindings(
    [
      "⟦environment: Prod",
      "model: ⟦${NOWHERE}",
      "services:",
      "  ⟦Hub: {packages: [a]}",
      "  iam: {⟦packages: [], ⟦port: 1}",
      "⟦path: []",
    ].join("\n"),
    [
      "CONFIG_VALUE environment must be a name",
      "CONFIG_VARIABLE the variable NOWHERE is not set",
      "CONFIG_KEY services.Hub must be a name",
      "CONFIG_VALUE services.iam.packages must have at least 1 item",
      'CONFIG_KEY services.iam.port is not a key; did you mean "ports"?',
      'CONFIG_KEY path is not a key; did you mean "paths"?',
    ],
  );
});

describe("a variable", () => {
  test("is read in values, also inside text and in lists", () => {
    const text =
      "environment: ${ENV}\nmodel: models/${NAME}-${ENV}.zed\nservices: {hub: {packages: ['${PACKAGE}']}}\n";
    const variables = { ENV: "staging", NAME: "iam", PACKAGE: "hub.v1" };
    expect(load(text, variables)?.config).toMatchObject({
      environment: "staging",
      model: "models/iam-staging.zed",
      services: { hub: { packages: ["hub.v1"] } },
    });
  });

  test.each([
    ["http: ${PORT}", 8080],
    ["http: ${PORT:-9090}", 8080],
    ["http: ${OTHER:-9090}", 9090],
    ["http: 80${TENS}", 8081],
  ])("gives a number in %s", (line, port) => {
    const text = `services:\n  hub:\n    packages: [a.v1]\n    ports:\n      ${line}\n`;
    expect(load(text, { PORT: "8080", TENS: "81" })?.config.services?.hub?.ports.http).toBe(port);
  });

  test("gives text if it is quoted, with any content", () => {
    expect(load('model: "${M}"', { M: "5" })?.config.model).toBe("5");
    expect(load("model: '${M}'", { M: "true" })?.config.model).toBe("true");
  });

  test("gives true and false", () => {
    const config = (backstop: string) => `
identity: {issuer: https://a, authorization_endpoint: https://a, token_endpoint: https://a, jwks_uri: https://a}
edge:
  gateway: {name: edge, namespace: edge, class: envoy}
  listeners: [{name: web, port: 80, protocol: HTTP}]
  backstop: ${backstop}
`;
    expect(load(config("${B}"), { B: "false" })?.config.edge?.backstop).toBe(false);
    expect(load(config("${B:-true}"))?.config.edge?.backstop).toBe(true);
  });

  test("is not a structure: what it holds stays one value", () => {
    expect(load("model: ${M}", { M: "a\nenvironment: prod" })?.config).toMatchObject({
      environment: "development",
      model: "a\nenvironment: prod",
    });
    expect(load("model: ${M}", { M: "{a: b}" })?.config.model).toBe("{a: b}");
    expect(load("model: ${M}", { M: "${ENV}", ENV: "x" })?.config.model).toBe("${ENV}");
  });

  test("is not read in keys and comments", () => {
    expectFindings("⟦${KEY}: x\n# ${COMMENT}\n", ["CONFIG_KEY ${KEY} is not a key"]);
    expect(load("environment: dev # ${COMMENT}\n")?.config.environment).toBe("dev");
  });

  test("that is not set is the one finding of its value", () => {
    expectFindings("environment: ⟦${ENV}\n", [
      "CONFIG_VARIABLE the variable ENV is not set; set it, or write ${ENV:-default}",
    ]);
  });

  test("whose reference is malformed is reported where its value starts", () => {
    expectFindings("model: ⟦a/${\n", ['CONFIG_VARIABLE "${" is not a reference']);
    expectFindings('model: ⟦"${1}"\n', ['CONFIG_VARIABLE "${1}" is not a reference']);
  });

  test("after $$ that is not a value of its key is refused like any other", () => {
    const result = loadConfig("environment: $${ENV}", "svc-access.yaml", {});
    expect(result).toMatchObject({ diagnostics: [{ rule: "CONFIG_VALUE" }] });
  });

  test("after $$ is text", () => {
    expect(load("model: $${ENV}")?.config.model).toBe("${ENV}");
  });
});

test("locate finds a value, or its parent", () => {
  const loaded = load("environment: dev\nservices:\n  hub:\n    packages: [a.v1, b.v1]\n");
  expect(loaded?.file).toBe("svc-access.yaml");
  expect(loaded?.locate(["services", "hub", "packages", 1])).toEqual({ line: 4, column: 22 });
  expect(loaded?.locate(["services", "hub", "ports", "http"])).toEqual({ line: 3, column: 3 });
  expect(loaded?.locate(["frontends"])).toEqual({ line: 1, column: 1 });
});

test("the example of an edge in docs/configuration.md is accepted", () => {
  const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
  const example = [...page.matchAll(/```yaml\n(.*?)```/gs)].find(([block]) =>
    block.includes("edge:"),
  );
  expect(findingsOf(example?.[1] ?? expect.fail("no example"))).toEqual([]);
});
