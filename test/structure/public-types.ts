/** The types that the package publishes, and what their doc comments say. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";

/** A declaration of the published types, or a member of one. */
export interface Item {
  /** Such as `ServerOptions.routes`. */
  readonly name: string;
  readonly isFunction: boolean;
  /** The text of its doc comment; undefined if it has none. */
  readonly doc: string | undefined;
}

/** One file of types. */
export interface TypesFile {
  readonly items: readonly Item[];
  /** The names that it exports. */
  readonly exports: readonly string[];
}

/** Reads all files of types of a folder, by their paths in it. */
export function readTypes(folder: string): ReadonlyMap<string, TypesFile> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".d.ts"));
  return new Map(files.map((name) => [name, parseTypes(readFileSync(join(folder, name), "utf8"))]));
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

const MEMBERS: ReadonlySet<string> = new Set([
  "MethodDefinition",
  "PropertyDefinition",
  "TSCallSignatureDeclaration",
  "TSMethodSignature",
  "TSPropertySignature",
]);

/** Reads the text of a file of types. */
export function parseTypes(text: string): TypesFile {
  const { program, comments, errors } = parseSync("types.d.ts", text);
  const [error] = errors;
  if (error !== undefined) throw new Error(error.message);
  const docs = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));
  const docOf = ({ start }: Node): string | undefined => {
    const last = docs.findLast(({ end }) => end <= start);
    return last === undefined || text.slice(last.end, start).trim() !== ""
      ? undefined
      : last.value.replace(/^\s*\* ?/gm, "").trim();
  };

  function* itemsOf(node: Node, owner: string): Generator<Item> {
    let name = owner;
    if (MEMBERS.has(node.type)) {
      if (saysItself(node)) return;
      name = `${owner}.${nameOf(node)}`;
      yield { name, isFunction: false, doc: docOf(node) };
    }
    for (const child of Object.values(node).flat()) {
      if (isNode(child)) yield* itemsOf(child, name);
    }
  }

  const items: Item[] = [];
  const exports: string[] = [];
  for (const statement of program.body as unknown as Node[]) {
    if (statement.type === "ImportDeclaration") continue;
    if (statement.type === "ExportNamedDeclaration") {
      exports.push(...(statement["specifiers"] as Node[]).map((one) => nameOf(one, "exported")));
      continue;
    }
    const isConstant = statement.type === "VariableDeclaration";
    const named = isConstant ? (statement["declarations"] as Node[])[0] : statement;
    const name = nameOf(named as Node, "id");
    items.push({ name, isFunction: "params" in statement, doc: docOf(statement) });
    // What TypeScript has found out of a constant nobody has written.
    if (!isConstant) items.push(...itemsOf(statement, name));
  }
  return { items, exports };
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

function nameOf(node: Node, key = "key"): string {
  const { name, value } = (node[key] ?? {}) as { readonly name?: string; readonly value?: unknown };
  return name ?? String(value ?? "()");
}

/** Whether nothing is left to say: a private member, a constant, or what must not be there. */
function saysItself(node: Node): boolean {
  const { key, value, typeAnnotation } = node as Node & Readonly<Record<string, Node | undefined>>;
  const type = (typeAnnotation?.["typeAnnotation"] as Node | undefined)?.type;
  return (
    key?.type === "PrivateIdentifier" ||
    value?.type === "Literal" ||
    type === "TSLiteralType" ||
    type === "TSUndefinedKeyword"
  );
}

/** The examples of a doc comment, each as it stands after its tag. */
export function examplesOf(doc: string): string[] {
  return doc
    .split(/^@/m)
    .filter((block) => /^example\b/.test(block))
    .map((block) => block.replace(/^example/, "").trim());
}

/** The code of an example; undefined where it is not one fenced block. */
export function codeOf(example: string): string | undefined {
  return /^```ts\n(?<code>(?:(?!```)[\s\S])*)\n```$/.exec(example)?.groups?.["code"];
}
