import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { CelRules, type SchemaNode } from "./crd-cel.ts";

/** Where the CRDs of Envoy Gateway and the Gateway API are. */
const FOLDER = join(
  process.env["SVC_ACCESS_SHARED"] ?? resolve(import.meta.dirname, "../../../shared"),
  "crds",
);

/** Whether the CRDs are there; without them, tests are skipped, and in CI they fail. */
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

/** Validates resources as the API server would: schema without unknown fields, defaults, CEL rules. */
export class CrdValidator {
  readonly #crds = new Map<string, Crd>();
  readonly #cel = new CelRules();

  constructor() {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      useDefaults: true,
      validateFormats: false,
    });
    for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"))) {
      const { spec } = parse(readFileSync(join(FOLDER, file), "utf8"));
      for (const { name, schema } of spec.versions) {
        const root = close(schema.openAPIV3Schema) as SchemaNode & { properties: object };
        const withMetadata = { ...root, properties: { ...root.properties, metadata: METADATA } };
        this.#crds.set(`${spec.group}/${name} ${spec.names.kind}`, {
          schema: withMetadata,
          validate: ajv.compile(withMetadata),
        });
      }
    }
  }

  /** How many CEL rules were evaluated. */
  get evaluations(): number {
    return this.#cel.evaluations;
  }

  /** All that is wrong with a resource; empty where the API server would take it. */
  validate(resource: unknown): string[] {
    const { apiVersion, kind } = resource as { apiVersion?: string; kind?: string };
    const crd = this.#crds.get(`${apiVersion} ${kind}`);
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

/** The schema with all objects closed: the API server prunes what it does not know, and a policy with it. */
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
