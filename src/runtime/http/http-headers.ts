import type { CallHeaders } from "../call/call-headers.ts";

const NONE: readonly string[] = Object.freeze([]);

/**
 * The headers of a request as they came: Node's own table joins or drops what
 * occurs twice, and a duplicate must be seen (design.md, "Trust").
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
