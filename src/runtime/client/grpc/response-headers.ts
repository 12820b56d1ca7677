import type { Metadata } from "@grpc/grpc-js";
import type { CallHeaders } from "../../call/call-headers.ts";

/** The metadata of a response, as grpc-js gives them; binary values in base64. */
export class ResponseHeaders implements CallHeaders {
  readonly #metadata: Metadata;

  constructor(metadata: Metadata) {
    this.#metadata = metadata;
  }

  all(name: string): readonly string[] {
    return this.#metadata
      .get(name)
      .map((value) => (typeof value === "string" ? value : value.toString("base64")));
  }

  names(): Iterable<string> {
    return Object.keys(this.#metadata.getMap());
  }
}
