import { cleanText } from "../logging/redaction/redact-text.ts";
import { ERROR_CODES, type ErrorCode, grpcStatusOf, status } from "./error-codes.ts";

/**
 * A message and its type, as `anyPack` of `@bufbuild/protobuf/wkt` gives them.
 *
 * @example
 * ```ts
 * const detail: StatusDetail = anyPack(SetItemRequestSchema, create(SetItemRequestSchema, { itemId: "first" }));
 * throw new ServiceError("INVALID_ARGUMENT", "the text is missing", { statusDetails: [detail] });
 * ```
 */
export interface StatusDetail {
  /** The full name of the message behind a prefix: `type.googleapis.com/google.rpc.BadRequest`. */
  readonly typeUrl: string;
  /** The message in binary. */
  readonly value: Uint8Array;
}

/** What an error may contain besides its message. */
export interface ServiceErrorOptions extends ErrorOptions {
  /** The `details` for the caller; JSON, without secrets. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** In how many seconds the caller may retry: `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Whether another service returned this error to a client of this one; false by default. */
  readonly isRemote?: boolean;
  /**
   * The gRPC status, 1 to 16, if it differs from that of the HTTP status: such as ABORTED (10),
   * OUT_OF_RANGE (11), DATA_LOSS (15).
   */
  readonly grpcStatus?: number;
  /**
   * The details of the `google.rpc.Status`, exactly: they replace the `ErrorInfo` and the
   * `RetryInfo`, so callers over gRPC do not get `code` and `details`.
   */
  readonly statusDetails?: readonly StatusDetail[];
}

const GRPC_ERRORS: ReadonlySet<number> = new Set(
  Object.values(status).filter((code) => code !== status.OK),
);
const HTTP_STATUS_MIN = 400;
const HTTP_STATUS_MAX = 599;

/**
 * An error that is reported to the caller: an HTTP status, a code and a message
 * (docs/requirements.md, ERR-3). All other errors that a handler throws are INTERNAL, without
 * details.
 *
 * @example
 * ```ts
 * function refuse(itemId: string): never {
 *   if (itemId === "") throw new ServiceError("INVALID_ARGUMENT", "item_id is required");
 *   throw ServiceError.of(409, "ITEM_LOCKED", "the item is locked", { details: { by: "alice" } });
 * }
 * ```
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  /** The HTTP status. */
  readonly status: number;
  /** The gRPC status code. */
  readonly grpcStatus: number;
  /** The code for programs: one of the platform, or of the service that threw the error. */
  readonly code: string;
  /** The `details` for the caller, or those from another service. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** In how many seconds the caller may retry. */
  readonly retryAfterSeconds: number | undefined;
  /** The details of the `google.rpc.Status`: those to send, or all that another service sent. */
  readonly statusDetails: readonly StatusDetail[] | undefined;
  /** Whether another service returned it: its refusal of us is not a refusal of our caller. */
  readonly isRemote: boolean;

  /**
   * An error with a code of the platform.
   *
   * @param message the message for the caller; by default that of the code
   * @throws RangeError if `grpcStatus` is not from 1 to 16
   */
  constructor(code: ErrorCode, message?: string, options?: ServiceErrorOptions);
  /** @internal for codes of a service's own; use `ServiceError.of` */
  constructor(
    code: string,
    message: string | undefined,
    options: ServiceErrorOptions | undefined,
    status: number,
  );
  constructor(code: string, message?: string, options: ServiceErrorOptions = {}, status?: number) {
    const known = status === undefined ? ERROR_CODES[code as ErrorCode] : undefined;
    super(
      message ?? known?.message ?? code,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    if (options.grpcStatus !== undefined && !GRPC_ERRORS.has(options.grpcStatus)) {
      throw new RangeError(`an error has a gRPC status from 1 to 16, not ${options.grpcStatus}`);
    }
    this.code = code;
    this.status = status ?? known?.http ?? 500;
    this.grpcStatus = options.grpcStatus ?? known?.grpc ?? grpcStatusOf(this.status);
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.statusDetails = options.statusDetails;
    this.isRemote = options.isRemote ?? false;
  }

  /**
   * An error with a code of the service's own.
   *
   * @param status the HTTP status, 400 to 599
   * @param code upper case, such as `SKILL_PUBLISHED`
   * @param message the message for the caller
   * @throws RangeError if `status` is not from 400 to 599, or `grpcStatus` not from 1 to 16
   */
  static of(
    status: number,
    code: string,
    message: string,
    options: ServiceErrorOptions = {},
  ): ServiceError {
    if (!Number.isInteger(status) || status < HTTP_STATUS_MIN || status > HTTP_STATUS_MAX) {
      throw new RangeError(`an error has a status from 400 to 599, not ${status}`);
    }
    return new ServiceError(code, message, options, status);
  }
}

/** The error of a handler that needs a caller and finds none. */
export function missingPrincipal(): ServiceError {
  return new ServiceError("UNAUTHORIZED", "missing principal");
}

/** One object for all: it has no data of its own. */
const INTERNAL = new ServiceError("INTERNAL");

/** An error as callers get it; INTERNAL has no details, regardless of who threw it. */
export function reportedError(thrown: ServiceError): ServiceError {
  return thrown.code === INTERNAL.code ? INTERNAL : thrown;
}

/** In how many whole seconds the caller may retry, for `Retry-After`; undefined if not set. */
export function retryAfter({ retryAfterSeconds }: ServiceError): string | undefined {
  if (retryAfterSeconds === undefined) return undefined;
  return String(Math.max(0, Math.ceil(retryAfterSeconds)));
}

/** The error of a call that ends because the server shuts down: another one may serve it. */
export function shuttingDown(): ServiceError {
  return new ServiceError("UNAVAILABLE", "the server is shutting down");
}

const MAX_SHOWN = 64;

/** The error of an invalid request; the message names the invalid part. */
export function invalidArgument(message: string, cause?: unknown): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message, cause === undefined ? {} : { cause });
}

/** Text of a caller in a form that is safe in messages: quoted, on one line, not too long. */
export function shown(text: string): string {
  const short = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return cleanText(JSON.stringify(short));
}
