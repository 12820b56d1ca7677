import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { CelRules, type SchemaNode } from "./crd-cel.ts";

/** Where the CRDs of Envoy Gateway and the Gateway API are. */
const FOLDER = join(
  process.env["SVC_ACCESS_SHARED"] ?? resolve(import.meta.dirname, "../../../../shared"),
  "crds",
);

/** Whether the CRDs exist; without them, tests are skipped, and in CI they fail. */
export const hasCrds = existsSync(FOLDER);

if (!hasCrds) {
  const message = `the CRDs are not in ${FOLDER}: set SVC_ACCESS_SHARED, or nothing is validated against them`;
  if (process.env["CI"] === "true") throw new Error(message);
  console.error(`\n!!! SKIPPED: ${message}\n`);
}

interface Crd {
  readonly schema: SchemaNode;
  readonly validate: ValidateFunction;
}

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  useDefaults: true,
  validateFormats: false,
});

/** By version and kind: they are large, so each is read when it is first needed, for all validators. */
const crds = new Map<string, Crd>();

function findCrd(apiVersion: string, kind: string): Crd | undefined {
  const key = `${apiVersion} ${kind}`;
  const known = crds.get(key);
  if (known !== undefined) return known;
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"))) {
    const text = readFileSync(join(FOLDER, file), "utf8");
    if (!text.includes(`\n    kind: ${kind}\n`)) continue;
    const { spec } = parse(text);
    const version = (spec.versions as { name: string; schema: { openAPIV3Schema: SchemaNode } }[])
      .filter(({ name }) => `${spec.group}/${name}` === apiVersion)
      .map(({ schema }) => close(schema.openAPIV3Schema) as SchemaNode & { properties: object })
      .at(0);
    if (version === undefined) continue;
    const schema = { ...version, properties: { ...version.properties, metadata: METADATA } };
    const crd = { schema, validate: ajv.compile(schema) };
    crds.set(key, crd);
    return crd;
  }
  return undefined;
}

/** Validates resources as the API server would: schema without unknown fields, defaults, CEL rules. */
export class CrdValidator {
  readonly #cel = new CelRules();

  /** How many CEL rules were evaluated. */
  get evaluations(): number {
    return this.#cel.evaluations;
  }

  /** All errors in a resource; empty if the API server would accept it. */
  validate(resource: unknown): string[] {
    const { apiVersion = "", kind = "" } = resource as { apiVersion?: string; kind?: string };
    const crd = findCrd(apiVersion, kind);
    if (crd === undefined) return [`no CRD for ${apiVersion} ${kind}`];
    const copy = structuredClone(resource);
    // The schema first, as it fills in the defaults that CEL rules read.
    const problems = crd.validate(copy)
      ? []
      : (crd.validate.errors ?? []).map(
          ({ instancePath, message, params }) =>
            `${instancePath} ${message} ${JSON.stringify(params)}`,
        );
    return problems.length > 0 ? problems : this.#cel.check(copy, crd.schema);
  }
}

const METADATA = {
  type: "object",
  required: ["name", "namespace"],
  additionalProperties: false,
  properties: {
    name: {
      type: "string",
      maxLength: 253,
      pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    },
    namespace: { type: "string", maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
    labels: {
      type: "object",
      additionalProperties: {
        type: "string",
        maxLength: 63,
        pattern: "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
      },
    },
  },
};

/** The schema with all objects closed: the API server drops unknown fields, and with them a policy. */
function close(schema: SchemaNode): SchemaNode {
  const closed: Record<string, unknown> = { ...schema };
  if (schema.properties !== undefined) {
    closed["properties"] = Object.fromEntries(
      Object.entries(schema.properties).map(([key, value]) => [key, close(value)]),
    );
  }
  if (schema.items !== undefined) closed["items"] = close(schema.items);
  if (typeof schema.additionalProperties === "object") {
    closed["additionalProperties"] = close(schema.additionalProperties);
  } else if (schema.type === "object" && schema["x-kubernetes-preserve-unknown-fields"] !== true) {
    closed["additionalProperties"] = false;
  }
  return closed as SchemaNode;
}
