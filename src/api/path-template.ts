/** One segment of a path template: a literal, `*` or `**`. */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  /** Exactly one non-empty segment. */
  | { readonly kind: "single" }
  /** Zero or more segments; must be the last before the verb. */
  | { readonly kind: "multi" };

/** A variable of a path template and the segments that it binds. */
export interface PathVariable {
  /** The field path: `skill.skill_id`. */
  readonly field: string;
  /** The index of its first segment. */
  readonly start: number;
  /** The index after its last segment. */
  readonly end: number;
}

/**
 * A parsed path template of `google.api.http`.
 *
 * `Template = "/" Segments [":" Verb]`; a segment is `*`, `**`, a literal or
 * `{field.path[=Segments]}`. Variables are flattened into the segments.
 */
export interface PathTemplate {
  readonly segments: readonly Segment[];
  readonly variables: readonly PathVariable[];
  readonly verb?: string;
}

/** The result of parsing: the template, or an error. */
export type PathTemplateResult =
  | { readonly template: PathTemplate; readonly error?: undefined }
  | { readonly template?: undefined; readonly error: string };

const SINGLE: Segment = { kind: "single" };
const MULTI: Segment = { kind: "multi" };

const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
/** RFC 3986 `pchar` without `:`, `*`, `{`, `}` and `=`, which the grammar uses. */
const LITERAL = /(?:[A-Za-z0-9\-._~!$&'()+,;@]|%[0-9A-Fa-f]{2})+/y;

/** The maximum length of a template; the Gateway API allows no longer path. */
const MAX_LENGTH = 1024;

/**
 * Parses a path template with the full grammar of `google.api.http`.
 *
 * @returns the template, or an error of one line with the number of the wrong
 * character, from 1.
 */
export function parsePathTemplate(text: string): PathTemplateResult {
  try {
    return { template: new TemplateParser(text).parse() };
  } catch (error) {
    if (error instanceof TemplateError) return { error: error.message };
    throw error;
  }
}

class TemplateError extends Error {}

class TemplateParser {
  readonly #text: string;
  readonly #segments: Segment[] = [];
  readonly #variables: PathVariable[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): PathTemplate {
    if (this.#text === "")
      throw new TemplateError("the path is empty; write, for example, /v1/things");
    if (this.#text.length > MAX_LENGTH) {
      throw new TemplateError(
        `the path has ${this.#text.length} characters; the limit is ${MAX_LENGTH}`,
      );
    }
    if (!this.#take("/")) this.#fail('the path must start with "/"');
    if (this.#at === this.#text.length) return { segments: [], variables: [] };
    this.#segmentList(undefined);
    let verb: string | undefined;
    if (this.#take(":")) {
      verb = this.#match(LITERAL) ?? this.#fail("a verb must follow the colon");
    }
    if (this.#at < this.#text.length) this.#unexpected();
    this.#checkMulti();
    this.#checkVariables();
    // Copies have the exact size; a list that grew has room for more.
    const segments = this.#segments.slice();
    const variables = this.#variables.slice();
    return verb === undefined ? { segments, variables } : { segments, variables, verb };
  }

  #segmentList(variable: string | undefined): void {
    do {
      this.#segment(variable);
    } while (this.#take("/"));
  }

  #segment(variable: string | undefined): void {
    if (this.#take("**")) {
      this.#segments.push(MULTI);
    } else if (this.#take("*")) {
      this.#segments.push(SINGLE);
    } else if (this.#text[this.#at] === "{") {
      if (variable !== undefined) {
        this.#fail(`the variable "${variable}" contains another variable; variables do not nest`);
      }
      this.#at++;
      this.#variable();
    } else {
      const text = this.#match(LITERAL);
      if (text === undefined) {
        const next = this.#text[this.#at];
        if (next === undefined || next === "/" || next === ":") this.#fail("a segment is empty");
        this.#unexpected();
      }
      if (text === "." || text === "..") this.#fail(`clients cannot send the segment "${text}"`);
      this.#segments.push({ kind: "literal", text });
    }
  }

  #variable(): void {
    const field = this.#fieldPath();
    const start = this.#segments.length;
    if (this.#take("=")) this.#segmentList(field);
    else this.#segments.push(SINGLE);
    if (!this.#take("}")) {
      if (this.#at === this.#text.length)
        this.#fail(`the variable "${field}" has no closing brace`);
      this.#unexpected();
    }
    this.#variables.push({ field, start, end: this.#segments.length });
  }

  #fieldPath(): string {
    const names: string[] = [];
    do {
      names.push(this.#match(IDENTIFIER) ?? this.#fail("a variable must name a field"));
    } while (this.#take("."));
    return names.join(".");
  }

  #checkMulti(): void {
    const index = this.#segments.findIndex((segment) => segment.kind === "multi");
    if (index >= 0 && index < this.#segments.length - 1) {
      throw new TemplateError('"**" must be the last segment before the verb');
    }
  }

  #checkVariables(): void {
    const seen = new Set<string>();
    for (const { field } of this.#variables) {
      if (seen.has(field)) throw new TemplateError(`the variable "${field}" occurs twice`);
      seen.add(field);
    }
    for (const field of seen) {
      for (let dot = field.indexOf("."); dot > 0; dot = field.indexOf(".", dot + 1)) {
        const parent = field.slice(0, dot);
        if (seen.has(parent)) {
          throw new TemplateError(`the variables "${parent}" and "${field}" bind the same field`);
        }
      }
    }
  }

  #take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0];
    if (text !== undefined) this.#at += text.length;
    return text;
  }

  #unexpected(): never {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    if (character === "?" || character === "#") {
      this.#fail(
        `"${character}" is not allowed in a path; fields that the path does not bind become query parameters`,
      );
    }
    this.#fail(`"${character}" is not allowed here`);
  }

  #fail(message: string): never {
    throw new TemplateError(`${message} (character ${this.#at + 1})`);
  }
}

/** The template without its variable names; equal for templates that match the same requests with equal rank. */
export function shapeOf(template: PathTemplate): string {
  const segments = template.segments.map(formatSegment).join("/");
  return `/${segments}${template.verb === undefined ? "" : `:${template.verb}`}`;
}

/** A segment as text. */
export function formatSegment(segment: Segment): string {
  switch (segment.kind) {
    case "literal":
      return segment.text;
    case "single":
      return "*";
    case "multi":
      return "**";
  }
}

/** A configured path without the slash that a prefix may end in. */
export function plainPath(path: string, match: "exact" | "prefix"): string {
  return match === "prefix" && path.length > 1 ? path.replace(/\/$/, "") : path;
}

/** The template of a path without special characters. */
export function plainTemplate(path: string, prefix: boolean): PathTemplate {
  const text = prefix ? path.replace(/\/+$/, "") : path;
  const segments: readonly Segment[] =
    text === "" || text === "/"
      ? []
      : text
          .slice(1)
          .split("/")
          .map((part) => ({ kind: "literal", text: part }));
  return { segments: prefix ? [...segments, { kind: "multi" }] : segments, variables: [] };
}
