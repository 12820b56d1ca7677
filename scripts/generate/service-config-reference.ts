import * as z from "zod/mini";
import { serviceConfigSchema } from "../../src/runtime/configuration/service-config.ts";

const BEGIN = "<!-- The table is generated from src/runtime/configuration by npm run generate. -->";
const END = "<!-- End of the generated table. -->";

/** Replaces the text between the marks of a page with the table of all keys of a service's configuration. */
export function withServiceConfigReference(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin === -1 || end < begin) throw new Error("docs/configuration.md has lost its marks");
  return `${page.slice(0, begin + BEGIN.length)}\n${table()}${page.slice(end)}`;
}

function table(): string {
  const schema = z.toJSONSchema(serviceConfigSchema, { io: "input", target: "draft-7" });
  const rows = [...keys(schema as Schema, "")].map(({ key, type, description }) => {
    return `| \`${key}\` | ${type} | ${description} |\n`;
  });
  return `\n| key | type, default | meaning |\n|---|---|---|\n${rows.join("")}\n`;
}

/** The parts of a JSON Schema that are read. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
}

interface Row {
  readonly key: string;
  readonly type: string;
  readonly description: string;
}

/** The keys with values, and optional keys with nested keys. */
function* keys(schema: Schema, prefix: string): Iterable<Row> {
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    const key = `${prefix}${name}`;
    const description = (part.description ?? "").replaceAll("|", "\\|").replace(/\.$/, "");
    const isRequired = schema.required?.includes(name) ?? false;
    if (part.properties === undefined) {
      yield { key, type: typeOf(part, isRequired), description };
      const list = [part, ...(part.anyOf ?? [])].find(({ items }) => items?.properties);
      if (list?.items !== undefined) yield* keys(list.items, `${key}[].`);
      continue;
    }
    // A required key of an optional object is only required if the object is present.
    if (part.default === undefined) {
      yield { key, type: isRequired ? "**required**" : "optional", description };
    }
    yield* keys(part, `${key}.`);
  }
}

function typeOf(schema: Schema, isRequired: boolean): string {
  const { minimum = 0, maximum } = schema;
  const range =
    schema.type === "integer" && maximum !== undefined ? `, ${minimum} to ${maximum}` : "";
  const otherwise =
    schema.default !== undefined
      ? `; ${formatted(schema.default)}`
      : isRequired
        ? ", **required**"
        : ", optional";
  return `${kindOf(schema)}${range}${otherwise}`;
}

function kindOf({ type, enum: values, items, anyOf }: Schema): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(", ");
  if (anyOf !== undefined) return anyOf.map(kindOf).join(", or ");
  if (type === "array")
    return items?.properties === undefined ? `list of ${kindOf(items ?? {})}` : "list";
  return type === "string" ? "text" : (type ?? "value");
}

function formatted(value: unknown): string {
  if (!Array.isArray(value)) return `\`${value}\``;
  return value.length === 0 ? "empty" : value.map((item) => `\`${item}\``).join(", ");
}
