import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  type Scalar,
} from "yaml";
import type { Position } from "../schema/model.ts";
import { malformed, scalarPositions } from "./text-positions.ts";

/** A node of a YAML text; its methods throw MalformedFileError if it has another form. */
export interface Item {
  readonly position: Position;
  /** Its text, and the position of each offset; empty if it is null. */
  text(): { readonly value: string; readonly placeOf: (offset: number) => Position };
  /** The items of a list; empty if it is null. */
  items(): Item[];
  /** The keys and values of a map; empty if it is null. */
  entries(): Entry[];
}

/** A key and its value. */
export interface Entry {
  readonly key: string;
  readonly position: Position;
  /** Absent if it is null. */
  readonly value: Item | undefined;
}

/** A YAML text with keys and values. */
export interface YamlText {
  readonly file: string;
  readonly entries: readonly Entry[];
  readonly notes: readonly string[];
  /** The value of a key; undefined if it is absent or null. */
  get(key: string): Item | undefined;
}

/**
 * Reads a YAML text; if it has several documents, only the first, as `zed` does.
 *
 * @throws MalformedFileError if it is not YAML or has no keys and values
 */
export function readYaml(source: string, file: string): YamlText {
  const lines = new LineCounter();
  const documents = parseAllDocuments(source, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: "error",
  });
  const [document] = "empty" in documents ? [] : documents;
  const start: Position = { line: 1, column: 1 };
  if (document === undefined || document.contents === null) {
    throw malformed(file, start, "the file is empty; write schema, relationships and assertions");
  }
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw malformed(file, { line, column: col }, firstLine(error.message));
  }
  const reader: Reader = { file, source, lines, document };
  const entries = new YamlItem(reader, document.contents).entries();
  const notes = documents.length > 1 ? [`${file}: only the first YAML document is read`] : [];
  return { file, entries, notes, get: (key) => entries.find((entry) => entry.key === key)?.value };
}

interface Reader {
  readonly file: string;
  readonly source: string;
  readonly lines: LineCounter;
  readonly document: Document.Parsed;
}

class YamlItem implements Item {
  readonly position: Position;
  readonly #reader: Reader;
  readonly #node: unknown;

  constructor(reader: Reader, node: Node) {
    this.#reader = reader;
    this.#node = isAlias(node) ? node.resolve(reader.document) : node;
    this.position = placeOf(reader, node);
  }

  text() {
    const { source, lines } = this.#reader;
    const node = this.#node;
    if (!isScalar(node)) throw this.#refuse("text");
    if (node.value === null) return { value: "", placeOf: () => this.position };
    if (typeof node.value !== "string") {
      return { value: node.source ?? String(node.value), placeOf: () => this.position };
    }
    const value = node.value;
    return { value, placeOf: scalarPositions(node as Scalar<string>, source, lines) };
  }

  items(): Item[] {
    const node = this.#node;
    if (isScalar(node) && node.value === null) return [];
    if (!isSeq(node)) throw this.#refuse("a list, each item after a dash");
    return node.items.map((item) => new YamlItem(this.#reader, item as Node));
  }

  entries(): Entry[] {
    const node = this.#node;
    if (isScalar(node) && node.value === null) return [];
    if (!isMap(node)) throw this.#refuse("keys and values");
    return node.items.map(({ key, value }) => {
      const position = placeOf(this.#reader, key as Node);
      if (!isScalar(key)) throw malformed(this.#reader.file, position, "a key must be text");
      const absent = value === null || (isScalar(value) && value.value === null);
      return {
        key: String(key.value),
        position,
        value: absent ? undefined : new YamlItem(this.#reader, value as Node),
      };
    });
  }

  #refuse(expected: string) {
    return malformed(this.#reader.file, this.position, `expected ${expected}`);
  }
}

function placeOf({ lines }: Reader, node: Node): Position {
  const { line, col } = lines.linePos(node.range?.[0] ?? 0);
  return { line, column: col };
}

function firstLine(message: string): string {
  const [line = message] = message.split("\n", 1);
  return line.charAt(0).toLowerCase() + line.slice(1);
}
