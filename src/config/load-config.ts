import { isMap, isScalar, LineCounter, type Node, parseDocument, Scalar, visit } from "yaml";
import type * as z from "zod";
import { compareDiagnostics, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import { checkConfig } from "./check-config.ts";
import { configSchema, type PlatformConfig } from "./config.ts";
import { substituteVariables, type Variables } from "./variables.ts";

/** A place in `svc-access.yaml`: the keys and indices that lead to it. */
export type ConfigPath = readonly (string | number)[];

/** A loaded configuration. */
export interface LoadedConfig {
  readonly config: PlatformConfig;
  readonly file: string;
  /** Where a value stands, or what encloses it, where the file leaves it out. */
  readonly locate: (path: ConfigPath) => { line: number; column: number };
}

/** The most bytes of a configuration. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Parses and validates `svc-access.yaml`: strict keys, `${VAR}` references, and
 * references between its parts.
 *
 * @param text - the content of the file
 * @param file - its path, for diagnostics
 * @param variables - the environment that `${VAR}` reads
 * @returns the configuration, or all that is wrong with it
 */
export function loadConfig(
  text: string,
  file: string,
  variables: Variables,
): { loaded: LoadedConfig } | { loaded?: undefined; diagnostics: Diagnostic[] } {
  const lines = new LineCounter();
  const report = (rule: string, message: string, offset: number): Diagnostic => {
    const { line, col } = lines.linePos(offset);
    return { rule, severity: "error", message, file, line, column: col };
  };
  if (text.length > MAX_BYTES) {
    return { diagnostics: [report("CONFIG_SYNTAX", "the file has more than 4 MB", 0)] };
  }
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: "1.2",
    schema: "core",
  });
  const problems = [...document.errors, ...document.warnings].map((error) =>
    report("CONFIG_SYNTAX", firstLine(error.message), error.pos[0]),
  );
  if (problems.length > 0) return { diagnostics: problems };
  if (document.contents === null) {
    return {
      diagnostics: [report("CONFIG_SYNTAX", "the file is empty; `svc-access init` writes one", 0)],
    };
  }
  if (!isMap(document.contents)) {
    return { diagnostics: [report("CONFIG_SYNTAX", "the file must hold keys and values", 0)] };
  }

  visit(document, {
    Scalar(key, node) {
      if (key === "key" || typeof node.value !== "string") return;
      const result = substituteVariables(node.value, variables);
      if (result.error !== undefined) {
        problems.push(report("CONFIG_VARIABLE", result.error, node.range?.[0] ?? 0));
      } else if (result.text !== node.value) {
        node.value = node.type === Scalar.PLAIN ? plainValue(result.text) : result.text;
      }
    },
  });

  let value: unknown;
  try {
    // An alias may expand to no more than this many nodes.
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return { diagnostics: [report("CONFIG_SYNTAX", firstLine((error as Error).message), 0)] };
  }
  const locate = (path: ConfigPath) => {
    const { line, col } = lines.linePos(offsetOf(document.contents as Node, path));
    return { line, column: col };
  };
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) problems.push(...describeIssue(issue, file, locate));
  }
  if (problems.length === 0 && parsed.data !== undefined) {
    for (const { path, message } of checkConfig(parsed.data)) {
      problems.push({
        rule: "CONFIG_VALUE",
        severity: "error",
        message: `${message}`,
        file,
        ...locate(path),
      });
    }
  }
  if (problems.length > 0 || parsed.data === undefined) {
    return { diagnostics: problems.sort(compareDiagnostics) };
  }
  return { loaded: { config: parsed.data, file, locate } };
}

function describeIssue(
  issue: z.core.$ZodIssue,
  file: string,
  locate: (path: ConfigPath) => { line: number; column: number },
): Diagnostic[] {
  const path = issue.path.map((step) => (typeof step === "symbol" ? step.toString() : step));
  const finding = (rule: string, message: string, at: ConfigPath): Diagnostic => {
    return { rule, severity: "error", message, file, ...locate(at) };
  };
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(path);
    return issue.keys.map((key) => {
      const hint =
        didYouMean(key, known) || (known.length > 0 ? `; known are ${known.join(", ")}` : "");
      const secret = /secret|password|token/i.test(key)
        ? "; secrets stay in the secret store, name the Secret in client_secret"
        : "";
      return finding("CONFIG_KEY", `${formatPath([...path, key])} is no key${secret || hint}`, [
        ...path,
        key,
      ]);
    });
  }
  if (issue.code === "invalid_type" && issue.input === undefined && path.length > 0) {
    return [finding("CONFIG_VALUE", `${formatPath(path)} is missing`, path)];
  }
  if (issue.code === "invalid_key") {
    const why = issue.issues[0]?.message ?? issue.message;
    return [finding("CONFIG_KEY", `${formatPath(path)} ${why}`, path)];
  }
  return [finding("CONFIG_VALUE", `${formatPath(path)}: ${lowerFirst(issue.message)}`, path)];
}

/** The keys that the schema has at a place. */
function knownKeys(path: ConfigPath): string[] {
  let schema: unknown = configSchema;
  for (const step of path) {
    schema = stepInto(unwrap(schema), step);
    if (schema === undefined) return [];
  }
  const shape = (unwrap(schema) as { shape?: Record<string, unknown> }).shape;
  return shape === undefined ? [] : Object.keys(shape);
}

interface SchemaParts {
  shape?: Record<string, unknown>;
  element?: unknown;
  valueType?: unknown;
  unwrap?: () => unknown;
}

function unwrap(schema: unknown): SchemaParts {
  let inner = schema as SchemaParts;
  while (
    inner.shape === undefined &&
    inner.element === undefined &&
    typeof inner.unwrap === "function"
  ) {
    inner = inner.unwrap() as SchemaParts;
  }
  return inner;
}

function stepInto(schema: SchemaParts, step: string | number): unknown {
  return schema.shape?.[step] ?? schema.element ?? schema.valueType;
}

function formatPath(path: ConfigPath): string {
  return path
    .map((step, index) =>
      typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join("");
}

/** The offset of the deepest node on the way to a path; that of a key, where the last step is one. */
function offsetOf(root: Node, path: ConfigPath): number {
  let offset = root.range?.[0] ?? 0;
  let node: unknown = root;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isScalar(item.key) && String(item.key.value) === String(step),
      );
      if (pair === undefined) break;
      offset = (pair.key as Scalar).range?.[0] ?? offset;
      node = pair.value;
    } else {
      const item: unknown = (node as { items?: unknown[] } | null)?.items?.[Number(step)];
      if (item === undefined) break;
      offset = (item as Node).range?.[0] ?? offset;
      node = item;
    }
  }
  return offset;
}

/** A plain scalar that held a variable is read again, so that `port: ${PORT}` is a number. */
function plainValue(text: string): unknown {
  if (/^(?:true|false)$/.test(text)) return text === "true";
  return /^-?(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text;
}

function firstLine(message: string): string {
  return lowerFirst(message.split("\n", 1)[0] ?? message).replace(/\.$/, "");
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
