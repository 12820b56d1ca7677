import { readFileSync, statSync } from "node:fs";
import { parseDocument } from "yaml";

/** A plugin of a buf template (`buf.gen.yaml`). */
export interface TemplatePlugin {
  /** Its command, or its remote or built-in name. */
  readonly command: readonly string[];
  /** Whether it is a local command, neither remote nor built in. */
  readonly isLocal: boolean;
  readonly out: string | undefined;
  /** One per line. */
  readonly options: string;
  /** If absent, buf runs the plugin once for each folder. */
  readonly strategy: string | undefined;
}

/** A buf template of any version. */
export interface BufTemplate {
  readonly version: unknown;
  readonly plugins: readonly TemplatePlugin[];
  readonly inputs: readonly unknown[];
}

/** A template that cannot be read; the message says why. */
export class BufTemplateError extends Error {
  override readonly name = "BufTemplateError";
}

/** Far larger than a handwritten template. */
const MAX_BYTES = 1 << 20;

/**
 * Reads a template as buf does: block or flow style, with aliases.
 *
 * @returns undefined if there is no such file
 * @throws BufTemplateError if the file cannot be read
 */
export function readBufTemplate(path: string): BufTemplate | undefined {
  let content: unknown;
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined) return undefined;
    if (size > MAX_BYTES) throw new Error(`it has ${size} bytes; the limit is ${MAX_BYTES}`);
    const document = parseDocument(readFileSync(path, "utf8"), { merge: true });
    const [error] = document.errors;
    if (error !== undefined) throw error;
    content = document.toJS();
  } catch (error) {
    throw new BufTemplateError(`${path} cannot be read: ${(error as Error).message}`);
  }
  if (content === null || content === undefined)
    return { version: undefined, plugins: [], inputs: [] };
  if (!isMapping(content))
    throw new BufTemplateError(`${path} cannot be read: it is not a mapping`);
  const { version, plugins, inputs } = content;
  return {
    version,
    plugins: listOf(plugins, `plugins in ${path}`).filter(isMapping).map(pluginOf),
    inputs: listOf(inputs, `inputs in ${path}`),
  };
}

function pluginOf(entry: Readonly<Record<string, unknown>>): TemplatePlugin {
  const { local, remote, protoc_builtin: builtin, plugin, name, path, out, opt, strategy } = entry;
  // Version 1 has the name in `plugin` or `name`, and the command in `path`.
  const command = [path ?? [], local ?? plugin ?? name ?? remote ?? builtin ?? []].flat();
  return {
    command: command.map(String),
    isLocal: remote === undefined && builtin === undefined,
    out: typeof out === "string" ? out : undefined,
    options: [opt ?? []].flat().join("\n").replaceAll(",", "\n"),
    strategy: typeof strategy === "string" ? strategy : undefined,
  };
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new BufTemplateError(`${what} is not a list`);
  return value;
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
