import type { CallHeaders } from "../call/call-headers.ts";

/** The suffix of names whose values are base64. */
const BINARY_SUFFIX = "-bin";
const NONE: readonly string[] = [];

/**
 * The metadata of a gRPC call, from the header list as it came over the wire. Node's
 * header object joins what occurs twice, or keeps the first only.
 */
export class GrpcHeaders implements CallHeaders {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  /** @param raw names and values in turn; HTTP/2 has names in lower case */
  constructor(raw: readonly string[]) {
    const values = new Map<string, string[]>();
    for (let index = 0; index + 1 < raw.length; index += 2) {
      const name = nameOf(raw[index] as string);
      if (name === undefined) continue;
      const value = raw[index + 1] as string;
      const present = values.get(name);
      const occurrences = name.endsWith(BINARY_SUFFIX) ? binaryValues(value) : [value];
      if (present === undefined) values.set(name, occurrences);
      else present.push(...occurrences);
    }
    this.#values = values;
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? NONE;
  }

  names(): Iterable<string> {
    return this.#values.keys();
  }
}

/** Pseudo-headers are no metadata, but HTTP/2 has the host in one. */
function nameOf(name: string): string | undefined {
  if (!name.startsWith(":")) return name;
  return name === ":authority" ? "host" : undefined;
}

/** Binary values may be joined by commas on their way, which base64 has none of. */
function binaryValues(value: string): string[] {
  return value.includes(",") ? value.split(",").map((each) => each.trim()) : [value];
}
