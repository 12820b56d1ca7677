/**
 * The headers of an HTTP request or the metadata of a gRPC call. Names are in
 * lower case; each occurrence of a header is a value of its own, never joined.
 *
 * @example
 * ```ts
 * const [tenant, ...more] = headers.all("x-tenant");
 * if (more.length > 0) throw new ServiceError("INVALID_ARGUMENT", "x-tenant comes twice");
 * ```
 */
export interface CallHeaders {
  /**
   * All values of a header, in their order; empty if it is absent.
   *
   * @param name in lower case
   */
  all(name: string): readonly string[];
  /** The names that occur; one that occurs more than once may come more than once. */
  names(): Iterable<string>;
}

/** The only value of a header; undefined if it is absent or occurs more than once. */
export function single(headers: CallHeaders, name: string): string | undefined {
  const values = headers.all(name);
  return values.length === 1 ? values[0] : undefined;
}

const NONE: readonly string[] = Object.freeze([]);

/**
 * The headers of a request as received: Node's own table joins or drops duplicates, which must be
 * detected (docs/requirements.md, HDR-6).
 */
export class HttpHeaders implements CallHeaders {
  readonly #raw: readonly string[];
  #lowered: string[] | undefined;

  /** @param raw names and values in turn */
  constructor(raw: readonly string[]) {
    this.#raw = raw;
  }

  all(name: string): readonly string[] {
    const names = (this.#lowered ??= lowerNames(this.#raw));
    let values: string[] | undefined;
    for (let index = names.indexOf(name); index >= 0; index = names.indexOf(name, index + 1)) {
      const value = this.#raw[2 * index + 1] as string;
      if (values === undefined) values = [value];
      else values.push(value);
    }
    return values ?? NONE;
  }

  names(): Iterable<string> {
    return (this.#lowered ??= lowerNames(this.#raw));
  }
}

function lowerNames(raw: readonly string[]): string[] {
  const names = new Array<string>(raw.length / 2);
  for (let index = 0; index < names.length; index++) {
    names[index] = (raw[2 * index] as string).toLowerCase();
  }
  return names;
}

/** Headers of which some are hidden. */
export class HeadersWithout implements CallHeaders {
  readonly #headers: CallHeaders;
  readonly #hidden: ReadonlySet<string>;

  constructor(headers: CallHeaders, hidden: ReadonlySet<string>) {
    this.#headers = headers;
    this.#hidden = hidden;
  }

  all(name: string): readonly string[] {
    return this.#hidden.has(name) ? [] : this.#headers.all(name);
  }

  *names(): Iterable<string> {
    for (const name of this.#headers.names()) {
      if (!this.#hidden.has(name)) yield name;
    }
  }
}
