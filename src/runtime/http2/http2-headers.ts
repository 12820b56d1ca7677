import type { CallHeaders } from "../call/call-headers.ts";

/** The suffix of names whose values are base64. */
const BINARY_SUFFIX = "-bin";
const NONE: readonly string[] = Object.freeze([]);

/**
 * The metadata of a gRPC call, from the header list as received. Node's header object joins
 * duplicates, or keeps the first only.
 */
export class Http2Headers implements CallHeaders {
  readonly #raw: readonly string[];
  #names: readonly string[] | undefined;

  /** @param raw names and values in turn; HTTP/2 has names in lower case */
  constructor(raw: readonly string[]) {
    this.#raw = raw;
  }

  all(name: string): readonly string[] {
    const names = (this.#names ??= namesOf(this.#raw));
    let values: string[] | undefined;
    for (let index = names.indexOf(name); index >= 0; index = names.indexOf(name, index + 1)) {
      const value = this.#raw[2 * index + 1] as string;
      const occurrences = name.endsWith(BINARY_SUFFIX) ? binaryValues(value) : [value];
      if (values === undefined) values = occurrences;
      else values.push(...occurrences);
    }
    if (values === undefined) return NONE;
    return values.length === 1 ? values : this.#joined(name, values);
  }

  /** A pseudo-header, such as `:path`; empty if it was not sent. HTTP/2 has them first, and once. */
  pseudo(name: string): string {
    for (let index = 0; index < this.#raw.length; index += 2) {
      const other = this.#raw[index] as string;
      if (other === name) return this.#raw[index + 1] as string;
      if (other.charCodeAt(0) !== 58 /* colon */) break;
    }
    return "";
  }

  /** A header that HTTP/2 clients may split into several fields. */
  #joined(name: string, values: readonly string[]): readonly string[] {
    // To compress it better (RFC 9113, section 8.2.3).
    if (name === "cookie") return [values.join("; ")];
    // A client that sends its host in both forms counts as sending it once (section 8.3.1).
    if (name === "host" && values.length === 2 && values[1] === this.pseudo(":authority")) {
      return [values[1]];
    }
    return values;
  }

  names(): Iterable<string> {
    return (this.#names ??= namesOf(this.#raw)).filter((name) => name !== NO_METADATA);
  }
}

/** Stands for a pseudo-header: no header has this name. */
const NO_METADATA = "";

/** The names by their place. Pseudo-headers are not metadata, but HTTP/2 has the host in one. */
function namesOf(raw: readonly string[]): string[] {
  const names = new Array<string>(raw.length >> 1);
  for (let index = 0; index < names.length; index++) {
    const name = raw[2 * index] as string;
    names[index] =
      name.charCodeAt(0) !== 58 /* colon */ ? name : name === ":authority" ? "host" : NO_METADATA;
  }
  return names;
}

/** Proxies may join binary values with commas, which base64 does not contain. */
function binaryValues(value: string): string[] {
  return value.includes(",") ? value.split(",").map((each) => each.trim()) : [value];
}
