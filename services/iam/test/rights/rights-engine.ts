import type { AuthorizationEngine, Relationship, RelationshipUpdate } from "svc-access/authz";
import { type TestEngine, testEngine } from "svc-access/testing";
import { EncryptionKeys } from "../../src/ground/secrets/encryption-keys.ts";
import { OutsideValues } from "../../src/ground/secrets/outside-values.ts";
import { SecretBox } from "../../src/ground/secrets/secret-box.ts";

const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;
const TEXT = /^(\w+):([^#]+)#(\w+)@(\w+):([^#]+)(?:#(\w+))?$/;

/** An engine with the model of IAM, and with these relationships. */
export function iamEngine(...relationships: string[]): Promise<TestEngine> {
  return testEngine({ model: MODEL, relationships });
}

/** A relationship from `zone:acme#owner@user:alice`. */
export function relationship(text: string): Relationship {
  const [, type = "", id = "", relation = "", subjectType = "", subjectId = "", set] =
    TEXT.exec(text) ?? [];
  if (type === "") throw new TypeError(`${text} is not a relationship`);
  return {
    resource: { type, id },
    relation,
    subject: { type: subjectType, id: subjectId, ...(set === undefined ? {} : { relation: set }) },
  };
}

/** Updates: `+` or nothing before a relationship writes it, `-` deletes it. */
export function updatesOf(...texts: readonly string[]): RelationshipUpdate[] {
  return texts.map((text) => ({
    operation: text.startsWith("-") ? "DELETE" : "TOUCH",
    relationship: relationship(text.replace(/^[+-]/, "")),
  }));
}

/** Writes without any rule. */
export function write(engine: AuthorizationEngine, ...texts: string[]): Promise<unknown> {
  return engine.writeRelationships({ updates: updatesOf(...texts) });
}

/** Seals page tokens. */
export const PAGE_TOKENS = new OutsideValues(new SecretBox(EncryptionKeys.ofDevelopment()), {
  has: () => undefined,
  add: () => undefined,
});
/** A log that nobody reads. */
export const NO_LOG = { warn: () => undefined } as const;
