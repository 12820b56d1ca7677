import type { DescFile } from "@bufbuild/protobuf";
import { ServiceError } from "../../error/service-error.ts";
import type { ReflectionIndex } from "./reflection-index.ts";
import { decodeQuery, encodeAnswer } from "./reflection-messages.ts";

/**
 * The questions of one call. Clients ask for each service, or for each file, and
 * keep what they got: google's whole API has some thousand of both.
 */
const MAX_QUERIES = 20_000;

/**
 * The bytes of answers that bring no new file: lists, what does not exist, and files that were sent
 * already. New ones need no bound: each is new once.
 */
const MAX_REPEATED_BYTES = 8 * 1024 * 1024;

/** The answers of one call: a client is sent what a file imports once, as other servers do. */
export class ReflectionAnswers {
  readonly #index: ReflectionIndex;
  readonly #sent = new Set<DescFile>();
  #queries = 0;
  #repeatedBytes = 0;

  constructor(index: ReflectionIndex) {
    this.#index = index;
  }

  /**
   * The answer to a query, both as messages.
   *
   * @throws ServiceError INVALID_ARGUMENT, or RATE_LIMITED where the call has asked for too much
   */
  to(query: Uint8Array): Uint8Array {
    if (++this.#queries > MAX_QUERIES) {
      throw exhausted(`a call may ask ${MAX_QUERIES} times`);
    }
    const before = this.#sent.size;
    const answer = encodeAnswer(query, decodeQuery(query), this.#index, this.#sent);
    if (this.#sent.size === before) this.#repeatedBytes += answer.length;
    if (this.#repeatedBytes > MAX_REPEATED_BYTES) {
      throw exhausted(`a call may ask again for ${MAX_REPEATED_BYTES} bytes`);
    }
    return answer;
  }
}

function exhausted(what: string): ServiceError {
  return new ServiceError("RATE_LIMITED", `${what}; keep what was answered, or call again`);
}
