import type { DescFile } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { status } from "../../error/error-codes.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { ReflectionIndex } from "./reflection-index.ts";

/**
 * The most requests of one call. Clients request each service, or each file, and keep the results:
 * the whole Google API has several thousand of both.
 */
const MAX_QUERIES = 20_000;

/**
 * The bytes of responses without a new file: lists, errors, and files that were sent already. New
 * files need no limit: each is new only once.
 */
const MAX_REPEATED_BYTES = 8 * 1024 * 1024;

/** The responses of one call: a client gets each imported file once, as from other servers. */
export class ReflectionAnswers {
  readonly #index: ReflectionIndex;
  readonly #sent = new Set<DescFile>();
  #queries = 0;
  #repeatedBytes = 0;

  constructor(index: ReflectionIndex) {
    this.#index = index;
  }

  /**
   * The response to a request, both as messages.
   *
   * @throws ServiceError INVALID_ARGUMENT, or RATE_LIMITED if the call has requested too much
   */
  to(query: Uint8Array): Uint8Array {
    if (++this.#queries > MAX_QUERIES) {
      throw exhausted(`a call may send ${MAX_QUERIES} requests`);
    }
    const before = this.#sent.size;
    const answer = encodeAnswer(query, decodeQuery(query), this.#index, this.#sent);
    if (this.#sent.size === before) this.#repeatedBytes += answer.length;
    if (this.#repeatedBytes > MAX_REPEATED_BYTES) {
      throw exhausted(`a call may repeat responses of ${MAX_REPEATED_BYTES} bytes in all`);
    }
    return answer;
  }
}

function exhausted(what: string): ServiceError {
  return new ServiceError("RATE_LIMITED", `${what}; cache the responses, or make a new call`);
}

/** What is read of a `ServerReflectionRequest`. */
export interface ReflectionQuery {
  readonly host: string;
  /** The field number of the request. */
  readonly kind: number;
  readonly text: string;
  readonly extensionNumber: number;
}

/** The fields of `ServerReflectionRequest.message_request`. */
const ask = {
  FILE_BY_FILENAME: 3,
  FILE_CONTAINING_SYMBOL: 4,
  FILE_CONTAINING_EXTENSION: 5,
  ALL_EXTENSION_NUMBERS_OF_TYPE: 6,
  LIST_SERVICES: 7,
} as const;

/** The fields of `ServerReflectionResponse`. */
const answer = {
  VALID_HOST: 1,
  ORIGINAL_REQUEST: 2,
  FILE_DESCRIPTORS: 4,
  EXTENSION_NUMBERS: 5,
  SERVICES: 6,
  ERROR: 7,
} as const;

/**
 * Reads a `ServerReflectionRequest`.
 *
 * @throws ServiceError INVALID_ARGUMENT
 */
function decodeQuery(data: Uint8Array): ReflectionQuery {
  const query = { host: "", kind: 0, text: "", extensionNumber: 0 };
  try {
    const reader = new BinaryReader(data);
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (type !== WireType.LengthDelimited) reader.skip(type, field);
      else if (field === 1) query.host = reader.string();
      else if (field === ask.FILE_CONTAINING_EXTENSION) {
        query.kind = field;
        const end = reader.uint32() + reader.pos;
        while (reader.pos < end) {
          const [inner, innerType] = reader.tag();
          if (inner === 1) query.text = reader.string();
          else if (inner === 2) query.extensionNumber = reader.int32();
          else reader.skip(innerType, inner);
        }
      } else {
        query.kind = field;
        query.text = reader.string();
      }
    }
  } catch (error) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      "the request is not a valid ServerReflectionRequest",
      {
        cause: error,
      },
    );
  }
  return query;
}

/**
 * The `ServerReflectionResponse` to a query, which it repeats unchanged.
 *
 * @param sent the files that the client has; those that it gets are added
 */
function encodeAnswer(
  original: Uint8Array,
  query: ReflectionQuery,
  index: ReflectionIndex,
  sent: Set<DescFile>,
): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(answer.VALID_HOST, WireType.LengthDelimited).string(query.host);
  writer.tag(answer.ORIGINAL_REQUEST, WireType.LengthDelimited).bytes(original);
  switch (query.kind) {
    case ask.FILE_BY_FILENAME:
      return writeFiles(writer, index.byPath(query.text, sent));
    case ask.FILE_CONTAINING_SYMBOL:
      return writeFiles(writer, index.bySymbol(query.text, sent));
    case ask.FILE_CONTAINING_EXTENSION:
      return writeFiles(writer, index.byExtension(query.text, query.extensionNumber, sent));
    case ask.ALL_EXTENSION_NUMBERS_OF_TYPE: {
      const numbers = index.extensionNumbers(query.text);
      if (numbers === undefined) return writeError(writer, status.NOT_FOUND, "not found");
      writer.tag(answer.EXTENSION_NUMBERS, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(query.text);
      for (const number of numbers) writer.tag(2, WireType.Varint).int32(number);
      return writer.join().finish();
    }
    case ask.LIST_SERVICES:
      writer.tag(answer.SERVICES, WireType.LengthDelimited).fork();
      for (const name of index.services) {
        writer.tag(1, WireType.LengthDelimited).fork();
        writer.tag(1, WireType.LengthDelimited).string(name).join();
      }
      return writer.join().finish();
    default:
      return writeError(writer, status.UNIMPLEMENTED, "the request is unknown");
  }
}

function writeFiles(writer: BinaryWriter, files: readonly Uint8Array[] | undefined): Uint8Array {
  if (files === undefined) return writeError(writer, status.NOT_FOUND, "not found");
  writer.tag(answer.FILE_DESCRIPTORS, WireType.LengthDelimited).fork();
  for (const file of files) writer.tag(1, WireType.LengthDelimited).bytes(file);
  return writer.join().finish();
}

function writeError(writer: BinaryWriter, code: number, message: string): Uint8Array {
  writer.tag(answer.ERROR, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int32(code);
  writer.tag(2, WireType.LengthDelimited).string(message);
  return writer.join().finish();
}
