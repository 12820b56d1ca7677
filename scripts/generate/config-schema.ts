/** Generates the files of `schemas` for configurations from the zod schemas in the `*-config.ts` files. */
import * as z from "zod/mini";
import { configSchema } from "../../src/config/config.ts";
import { SERVERS } from "../../src/runtime/configuration/listen-addresses.ts";
import { serviceConfigSchema } from "../../src/runtime/configuration/service-config.ts";

/** The JSON Schema of `svc-access.yaml`, for editors. */
export function configSchemaJson(): string {
  return schemaJson("svc-access.yaml, the platform configuration of svc-access", configSchema);
}

/** The JSON Schema of a service's configuration, for editors. */
export function serviceConfigSchemaJson(): string {
  const text = schemaJson("The configuration of a service on svc-access", serviceConfigSchema);
  // Which sections a service has beside these is known to its program only.
  const description = "A section of the service's own.";
  const schema = { ...JSON.parse(text), additionalProperties: { description, type: "object" } };
  const servers = schema.properties.server.properties;
  for (const name of SERVERS) servers[name] = orNull(servers[name]);
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** Allows null, which the loader removes before its schema sees it. */
function orNull({ description, ...schema }: JsonSchema): unknown {
  return { description, anyOf: [schema, { type: "null" }] };
}

function schemaJson(title: string, source: z.ZodMiniType): string {
  const schema = z.toJSONSchema(source, { io: "input", target: "draft-7" });
  const titled = { title, ...(orVariable(schema) as object) };
  return `${JSON.stringify(titled, undefined, 2)}\n`;
}

/** Allows a reference to a variable in place of each value. */
function orVariable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(orVariable);
  if (typeof schema !== "object" || schema === null) return schema;
  const { type, description, default: fallback, ...constraints } = schema as JsonSchema;
  const isLeaf = type === "string" || type === "integer" || type === "boolean";
  if (!isLeaf || (type === "string" && Object.keys(constraints).length === 0)) {
    return Object.fromEntries(
      Object.entries(schema).map(([key, value]) => {
        // The names of a record are not values.
        return [key, key === "propertyNames" || key === "enum" ? value : orVariable(value)];
      }),
    );
  }
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [
      { type, ...constraints },
      { type: "string", pattern: "\\$\\{" },
    ],
  };
}

/** The parts of a JSON Schema that are read. */
interface JsonSchema {
  readonly type?: unknown;
  readonly description?: unknown;
  readonly default?: unknown;
}
