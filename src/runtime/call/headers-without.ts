import type { CallHeaders } from "./call-headers.ts";

/** Headers of which some cannot be seen. */
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
