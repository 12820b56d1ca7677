import * as z from "zod/mini";
import { serviceConfigSchema } from "../../src/runtime/configuration/service-config.ts";

/**
 * The interface of a service's configuration with its defaults. It is generated, and not inferred from
 * the schema: the types of the package would then need those of zod, which is bundled.
 */
export function serviceConfigType(): string {
  const schema = z.toJSONSchema(serviceConfigSchema, { io: "output" }) as Schema;
  return `// Generated from src/runtime/configuration by npm run generate. Do not edit.

/**
 * The configuration of a service, with its defaults in place (docs/requirements.md, CONF-1). What ends in
 * \`_ns\` is in nanoseconds, in \`_seconds\` in seconds, in \`_days\` in days, in \`_bytes\` in bytes.
 */
export interface ServiceConfig ${typeOf(schema, "")}
`;
}

/** The parts of a JSON Schema that are read. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: "string",
  boolean: "boolean",
  integer: "number",
  number: "number",
};

function typeOf(schema: Schema, indent: string): string {
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((part) => typeOf(part, indent)).join(" | ");
  }
  if (schema.items !== undefined) {
    const item = typeOf(schema.items, indent);
    return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
  }
  if (schema.properties !== undefined) return objectOf(schema, indent);
  const primitive = PRIMITIVES[schema.type ?? ""];
  if (primitive === undefined) throw new Error(`no type for ${JSON.stringify(schema)}`);
  return primitive;
}

function objectOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, part]) => {
    const comment = part.description === undefined ? "" : `${inner}/** ${part.description} */\n`;
    const type = typeOf(part, inner);
    const member = required.includes(name) ? `${name}: ${type}` : `${name}?: ${type} | undefined`;
    return `${comment}${inner}${member};\n`;
  });
  return `{\n${lines.join("")}${indent}}`;
}
