import { beforeAll, describe, expect, test } from "vitest";
import { emitGateway } from "../../../src/emit/gateway/index.ts";
import { buildInput } from "./build-input.ts";
import { CrdValidator, hasCrds } from "./crd-validator.ts";
import { type Document, documentsOf } from "./documents.ts";
import { SAMPLE_CONFIG, SAMPLE_RPCS } from "./sample.ts";

describe.skipIf(!hasCrds)("the CRD validator (needs the CRDs)", () => {
  let validator: CrdValidator;
  let documents: Document[];

  beforeAll(() => {
    validator = new CrdValidator();
    const { files } = emitGateway(buildInput(SAMPLE_CONFIG, SAMPLE_RPCS));
    documents = documentsOf(files).map(({ file: _file, ...document }) => document as Document);
  });

  /** A copy of the first document of a kind, changed. */
  function changed(kind: string, change: (spec: any) => void): Document {
    const document = structuredClone(
      documents.find((each) => each.kind === kind && (kind !== "SecurityPolicy" || each.spec.oidc)),
    ) as Document;
    change(document.spec);
    return document;
  }

  test("accepts our files, and has evaluated CEL rules for them", () => {
    expect(documents.map((document) => validator.validate(document))).toEqual(
      documents.map(() => []),
    );
    expect(validator.evaluations).toBeGreaterThan(300);
  });

  test.each<[string, string, (spec: any) => void, string]>([
    [
      "an unknown field",
      "SecurityPolicy",
      (spec) => (spec.oidc.denyRedirects = true),
      "must NOT have additional properties",
    ],
    [
      "an unknown field at the top",
      "HTTPRoute",
      (spec) => (spec.hostname = "a"),
      "must NOT have additional properties",
    ],
    [
      "an unknown field in a list",
      "Gateway",
      (spec) => (spec.listeners[0].tls.secret = "a"),
      "must NOT have additional properties",
    ],
    [
      "a wrong enum",
      "ClientTrafficPolicy",
      (spec) => (spec.path.escapedSlashesAction = "Reject"),
      "must be equal to one of the allowed values",
    ],
    [
      "a wrong type",
      "BackendTrafficPolicy",
      (spec) => (spec.responseOverride[0].match.statusCodes[0].value = "400"),
      "must be integer",
    ],
    [
      "too many of a list",
      "ClientTrafficPolicy",
      (spec) =>
        (spec.headers.earlyRequestHeaders.remove = Array.from(
          { length: 65 },
          (_, index) => `h-${index}`,
        )),
      "must NOT have more than 64 items",
    ],
    [
      "a missing field",
      "SecurityPolicy",
      (spec) => delete spec.oidc.clientSecret,
      "must have required property 'clientSecret'",
    ],
    [
      "a path with two slashes (CEL)",
      "HTTPRoute",
      (spec) => (spec.rules[0].matches[0].path.value = "/a//b"),
      "must not contain '//'",
    ],
    [
      "no target (CEL)",
      "SecurityPolicy",
      (spec) => delete spec.targetRefs,
      "either targetRef or targetRefs must be used",
    ],
    [
      "a target of another kind (CEL)",
      "SecurityPolicy",
      (spec) => (spec.targetRefs[0].kind = "Service"),
      "this policy can only have a targetRefs[*].kind",
    ],
    [
      "a claim rule without jwt (CEL)",
      "SecurityPolicy",
      (spec) => {
        spec.authorization = {
          rules: [{ action: "Allow", principal: { jwt: { provider: "a", scopes: ["b"] } } }],
        };
        delete spec.jwt;
      },
      "jwt must be defined",
    ],
    [
      "129 matches in a route (CEL)",
      "HTTPRoute",
      (spec) => {
        const rule = {
          ...spec.rules[0],
          matches: Array.from({ length: 43 }, () => spec.rules[0].matches[0]),
        };
        spec.rules = [rule, rule, rule];
      },
      "the total number of matches",
    ],
    [
      "two listeners of one name (CEL)",
      "Gateway",
      (spec) => spec.listeners.push({ ...spec.listeners[0], port: 8443 }),
      "Listener name must be unique",
    ],
    [
      "a Service without a port (CEL over defaults)",
      "HTTPRoute",
      (spec) => {
        spec.rules[0].backendRefs = [{ name: "a" }];
      },
      "Must have port for Service reference",
    ],
  ])("fails for %s", (_name, kind, change, message) => {
    const problems = validator.validate(changed(kind, change));
    expect(problems.join("\n")).toContain(message);
  });

  test("fails for a kind that it does not know, and for a bad name", () => {
    expect(validator.validate({ apiVersion: "v1", kind: "Service" })).toEqual([
      "no CRD for v1 Service",
    ]);
    const document = changed("HTTPRoute", () => {});
    const renamed = { ...document, metadata: { ...document.metadata, name: "Hub_1" } };
    expect(validator.validate(renamed)).toHaveLength(1);
  });
});
