import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  Scalar,
  visit,
  type YAMLParseError,
  type YAMLWarning,
} from "yaml";
import { type DefaultedPart, substituteVariables, type Variables } from "./variables.ts";

/** The path of a value in a configuration: keys and indices. */
export type ConfigPath = readonly (string | number)[];

/** A position in the text, from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** An error in the text itself. */
export interface DocumentProblem extends TextPlace {
  readonly rule: "CONFIG_SYNTAX" | "CONFIG_VARIABLE";
  readonly message: string;
}

/** The text of a configuration, parsed as YAML, with its variables replaced. */
export interface ConfigDocument {
  /** The data; absent if the text is not a YAML mapping. */
  readonly value?: unknown;
  readonly problems: readonly DocumentProblem[];
  /** The position of the key or item at a path, or of the nearest parent that the text has. */
  readonly locate: (path: ConfigPath) => TextPlace;
  /** The parts of the text at a path that are defaults of variables. */
  readonly defaulted: (path: ConfigPath) => readonly DefaultedPart[];
  /** The empty variable that makes the text at a path empty, if any. */
  readonly emptiedBy: (path: ConfigPath) => string | undefined;
}

/** The maximum size of a configuration. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The maximum number of nodes that the aliases of a document expand to. */
const MAX_ALIASES = 100;

/** Reads the text of a configuration. */
export function readConfigDocument(text: string, variables: Variables): ConfigDocument {
  const start: TextPlace = { line: 1, column: 1 };
  const found: FoundVariables = { defaults: new Map(), empty: new Map() };
  const refuse = (message: string, place = start): ConfigDocument => {
    const problems = [{ rule: "CONFIG_SYNTAX", message, ...place } as const];
    return { problems, locate: () => start, defaulted: () => [], emptiedBy: () => undefined };
  };
  if (text.length > MAX_BYTES) return refuse("the file has more than 4 MB");
  const lines = new LineCounter();
  const placeOf = (offset: number): TextPlace => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: "error",
    version: "1.2",
    schema: "core",
  });
  const defaulted = (path: ConfigPath) => found.defaults.get(valueAt(document, path)) ?? [];
  const emptiedBy = (path: ConfigPath) => found.empty.get(valueAt(document, path));
  const locate = (path: ConfigPath) => placeOf(offsetOf(document.contents, path));
  const lookups = { locate, defaulted, emptiedBy };
  const problems = findings(document).map((error): DocumentProblem => {
    const message = MESSAGES[error.code] ?? messageOf(error);
    return { rule: "CONFIG_SYNTAX", message, ...placeOf(error.pos[0]) };
  });
  problems.push(...resolveNodes(document, variables, placeOf, found));
  if (problems.some(({ rule }) => rule === "CONFIG_SYNTAX")) return { problems, ...lookups };
  if (document.contents === null) {
    return refuse("the file is empty; `svc-access init` writes one");
  }
  if (!isMap(document.contents)) return refuse("the file must contain keys and values");
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }), problems, ...lookups };
  } catch (error) {
    return refuse(messageOf(error as Error));
  }
}

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  MULTIPLE_DOCS: "the file must contain a single document",
  TAB_AS_INDENT: "tabs are not allowed as indentation; write spaces",
};

/** What is wrong with the text; nothing after a tab, since the lines after it fail only because of it. */
function findings({ errors, warnings }: Document): (YAMLParseError | YAMLWarning)[] {
  const all = [...errors, ...warnings];
  const tab = errors.find(({ code }) => code === "TAB_AS_INDENT");
  return tab === undefined ? all : [...all.filter(({ pos }) => pos[0] < tab.pos[0]), tab];
}

/** The results of variables in the scalars of a document. */
interface FoundVariables {
  readonly defaults: Map<unknown, readonly DefaultedPart[]>;
  /** The variable that made each empty text empty. */
  readonly empty: Map<unknown, string>;
}

/** Replaces variables, and finds errors that need a walk through the nodes. */
function resolveNodes(
  document: Document,
  variables: Variables,
  placeOf: (offset: number) => TextPlace,
  { defaults, empty }: FoundVariables,
): DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  visit(document, {
    Alias(_, node) {
      if (node.resolve(document) !== undefined) return;
      const message = `unresolved alias *${node.source}`;
      problems.push({ rule: "CONFIG_SYNTAX", message, ...placeOf(node.range?.[0] ?? 0) });
    },
    Pair(_, pair) {
      if (isScalar(pair.key)) return;
      const range = (pair.key as Node | null)?.range;
      const message = "a key must be text";
      problems.push({ rule: "CONFIG_SYNTAX", message, ...placeOf(range?.[0] ?? 0) });
    },
    Scalar(key, node) {
      if (key === "key" || typeof node.value !== "string") return;
      const found = substituteVariables(node.value, variables);
      if (found.error !== undefined) {
        const place = placeOf(node.range?.[0] ?? 0);
        problems.push({ rule: "CONFIG_VARIABLE", message: found.error, ...place });
        return;
      }
      const { text, defaulted, emptiedBy } = found;
      if (emptiedBy !== undefined) empty.set(node, emptiedBy);
      if (defaulted.length > 0) defaults.set(node, defaulted);
      if (text !== node.value) node.value = node.type === Scalar.PLAIN ? plainValue(text) : text;
    },
  });
  return problems;
}

/** Parses a plain scalar with a variable again, so that `port: ${PORT}` is a number. */
function plainValue(text: string): unknown {
  if (/^(?:true|false)$/.test(text)) return text === "true";
  return /^-?(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text;
}

/** The node of the value at a path, also through aliases; undefined if there is none. */
function valueAt(document: Document, path: ConfigPath): unknown {
  let node: unknown = document.contents;
  for (const step of [...path, undefined]) {
    if (isAlias(node)) node = node.resolve(document);
    if (step !== undefined) node = stepInto(node, step);
  }
  return node;
}

function stepInto(node: unknown, step: string | number): unknown {
  const item = itemOf(node, step);
  return isPair(item) ? item.value : item;
}

/** The pair or item at a step of a path. */
function itemOf(node: unknown, step: string | number): unknown {
  if (isMap(node)) {
    return node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  }
  return isSeq(node) ? node.items[Number(step)] : undefined;
}

/** The offset of the deepest existing node of a path; that of the key if the last step is a key. */
function offsetOf(root: unknown, path: ConfigPath): number {
  let offset = (root as Node | null)?.range?.[0] ?? 0;
  let node = root;
  for (const step of path) {
    const item = itemOf(node, step);
    if (item === undefined) break;
    const place = isPair(item) ? item.key : item;
    offset = (place as Node | null)?.range?.[0] ?? offset;
    node = isPair(item) ? item.value : item;
  }
  return offset;
}

function messageOf({ message }: Error): string {
  const [line = message] = message.split("\n", 1);
  return (line.charAt(0).toLowerCase() + line.slice(1)).replace(/\.$/, "");
}
