import { describe, expect, test } from "vitest";
import { emitGateway } from "../../../src/emit/gateway/index.ts";
import { buildInput } from "./build-input.ts";
import { documentsOf, ofKind } from "./documents.ts";
import { SAMPLE_CONFIG, SAMPLE_RPCS } from "./sample.ts";

const HEADER = "x-svc-subject-type";
const KEY = "  subject_type_claim: subject_type\n";
const FOREIGN = SAMPLE_CONFIG.replace(KEY, "");
const IAM = FOREIGN.replace("https://id.example.com\n", "https://iam.example.com/v1/iam/oidc\n");

/** The claims that become the header, by policy; undefined where there is none. */
function claimsOf(yaml: string): Record<string, string | undefined> {
  const { files } = emitGateway(buildInput(yaml, SAMPLE_RPCS));
  const policies = ofKind(documentsOf(files), "SecurityPolicy").filter(({ spec }) => spec.jwt);
  return Object.fromEntries(
    policies.map(({ metadata, spec }) => {
      const mappings: { claim: string; header: string }[] = spec.jwt.providers[0].claimToHeaders;
      return [metadata.name, mappings.find(({ header }) => header === HEADER)?.claim];
    }),
  );
}

describe("the claim of the subject type becomes a header [EDGE-8, AUTHN-14]", () => {
  test("not from another issuer, whose users might be able to set it", () => {
    expect(claimsOf(FOREIGN)).toEqual({ "hub-web": undefined, "iam-web": undefined });
  });

  test.each([
    ["from IAM's own issuer", IAM, "subject_type"],
    ["from another one if it is configured", SAMPLE_CONFIG, "subject_type"],
    ["by another name", SAMPLE_CONFIG.replace(KEY, "  subject_type_claim: kind\n"), "kind"],
    [
      "by another name of IAM's",
      IAM.replace("edge:\n", `${KEY.replace(": s", ": my_s")}edge:\n`),
      "my_subject_type",
    ],
  ])("%s, with the default claims and those of the console", (_, yaml, claim) => {
    expect(claimsOf(yaml)).toEqual({ "hub-web": claim, "iam-web": claim });
  });

  test.each(["a.b", "", "1a", "a b", "https://x/y", `a${"b".repeat(64)}`])(
    "a name that Envoy could read in another way is refused: %j",
    (claim) => {
      const yaml = SAMPLE_CONFIG.replace(KEY, `  subject_type_claim: ${JSON.stringify(claim)}\n`);
      expect(() => buildInput(yaml, SAMPLE_RPCS)).toThrow("subject_type_claim");
    },
  );
});
