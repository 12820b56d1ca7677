import { isIP } from "node:net";
import { CelScalar, celEnv, celFunc, isCelError, parse, plan } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";

/** A node of an OpenAPI schema of a CRD. */
export interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-validations"?: readonly {
    readonly rule: string;
    readonly message?: string;
  }[];
}

/** CEL keywords that are also field names: a rule writes `__namespace__`. */
const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const env = celEnv({
  funcs: [
    ...strings,
    celFunc("isIP", [CelScalar.STRING], CelScalar.BOOL, (text) => isIP(text) !== 0),
  ],
});

type Evaluate = (bindings: { self: never }) => unknown;

/** The rules by their text, for all schemas. */
const compiled = new Map<string, Evaluate>();

/** The `x-kubernetes-validations` of a schema. */
export class CelRules {
  evaluations = 0;

  /** The rules that a value breaks, at any depth. */
  check(value: unknown, schema: SchemaNode, path = ""): string[] {
    const problems: string[] = [];
    for (const { rule, message } of schema["x-kubernetes-validations"] ?? []) {
      // A rule about a transition needs an object that exists.
      if (/\boldSelf\b/.test(rule)) continue;
      this.evaluations++;
      const result = this.#compile(rule)({ self: toCel(value, schema) as never });
      if (isCelError(result)) problems.push(`${path}: ${rule} cannot be evaluated: ${result}`);
      else if (result !== true) problems.push(`${path}: ${message ?? rule}`);
    }
    if (Array.isArray(value) && schema.items !== undefined) {
      for (const [index, item] of value.entries()) {
        problems.push(...this.check(item, schema.items, `${path}/${index}`));
      }
    } else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        const inner = schemaOf(schema, key);
        if (inner !== undefined) problems.push(...this.check(item, inner, `${path}/${key}`));
      }
    }
    return problems;
  }

  #compile(rule: string): Evaluate {
    let evaluate = compiled.get(rule);
    if (evaluate === undefined) {
      evaluate = plan(env, parse(rule)) as Evaluate;
      compiled.set(rule, evaluate);
    }
    return evaluate;
  }
}

function schemaOf(schema: SchemaNode, key: string): SchemaNode | undefined {
  const { properties, additionalProperties } = schema;
  return (
    properties?.[key] ??
    (typeof additionalProperties === "object" ? additionalProperties : undefined)
  );
}

/** Integers are `int` in CEL, which is not `double`. */
function toCel(value: unknown, schema: SchemaNode | undefined): unknown {
  if (typeof value === "number") {
    const integer = schema?.type === "integer" || schema?.["x-kubernetes-int-or-string"];
    return integer ? BigInt(value) : value;
  }
  if (Array.isArray(value)) return value.map((item) => toCel(item, schema?.items));
  if (typeof value !== "object" || value === null) return value;
  const map = new Map<string, unknown>();
  for (const [key, item] of Object.entries(value)) {
    const converted = toCel(item, schema && schemaOf(schema, key));
    map.set(key, converted);
    if (RESERVED.has(key)) map.set(`__${key}__`, converted);
  }
  return map;
}
