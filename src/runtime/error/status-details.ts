import { toUSVString } from "node:util";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { ServiceError, StatusDetail } from "./service-error.ts";

/** The trailer that holds a `google.rpc.Status`. */
export const STATUS_DETAILS_HEADER = "grpc-status-details-bin";

/** Messages are sent twice in the trailers, which clients limit. */
export const MAX_MESSAGE_CHARACTERS = 1024;

/**
 * The most bytes of all details that are sent. Trailers are headers, which clients limit: 8 KiB is
 * the usual limit of all of them.
 */
export const MAX_DETAILS_BYTES = 4096;

const TYPE_PREFIX = "type.googleapis.com/";
const ERROR_INFO = "google.rpc.ErrorInfo";
const RETRY_INFO = "google.rpc.RetryInfo";

/** The parts of a `google.rpc.Status` that are read. */
export interface StatusDetails {
  /** `ErrorInfo.reason`: the code. */
  readonly reason: string | undefined;
  /** `ErrorInfo.metadata`. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfterSeconds: number | undefined;
  /** All of them, as they were sent. */
  readonly details: readonly StatusDetail[];
}

/**
 * The `google.rpc.Status` of an error, which holds the details that the error says, or else an
 * `ErrorInfo`, and a `RetryInfo` where the caller may try again. These messages never change, and are so small that
 * they are written by hand rather than generated.
 *
 * @param domain the name of the deployed service; without it, there is no `ErrorInfo`
 * @param maxBytes over which the error's details are left out
 */
export function encodeStatusDetails(
  error: ServiceError,
  domain: string | undefined,
  maxBytes = Number.POSITIVE_INFINITY,
): Uint8Array {
  const whole = encodeStatus(error, errorDetails(error, domain));
  if (whole.length <= maxBytes) return whole;
  return encodeStatus(error, shortDetails(error, domain));
}

/**
 * The details of an error, each by itself: those that it says, or else an `ErrorInfo`, and a
 * `RetryInfo` where the caller may try again.
 *
 * @param domain the name of the deployed service; without it, there is no `ErrorInfo`
 * @param maxBytes over which the error's own details are left out
 */
export function errorDetails(
  error: ServiceError,
  domain: string | undefined,
  maxBytes = Number.POSITIVE_INFINITY,
): readonly StatusDetail[] {
  // The details from another service were for this one, not for its callers.
  const own = error.isRemote ? undefined : error.statusDetails;
  const whole = own ?? usualDetails(error, domain, error.details ?? {});
  const size = whole.reduce((sum, { value }) => sum + value.length, 0);
  return size <= maxBytes ? whole : shortDetails(error, domain);
}

function shortDetails(error: ServiceError, domain: string | undefined): readonly StatusDetail[] {
  return error.isRemote || error.statusDetails === undefined ? usualDetails(error, domain, {}) : [];
}

function encodeStatus(error: ServiceError, details: readonly StatusDetail[]): Uint8Array {
  const status = new BinaryWriter();
  status.tag(1, WireType.Varint).int32(error.grpcStatus);
  status
    .tag(2, WireType.LengthDelimited)
    .string(toUSVString(error.message.slice(0, MAX_MESSAGE_CHARACTERS)));
  for (const { typeUrl, value } of details) {
    status.tag(3, WireType.LengthDelimited).fork();
    status.tag(1, WireType.LengthDelimited).string(toUSVString(typeUrl));
    status.tag(2, WireType.LengthDelimited).bytes(value);
    status.join();
  }
  return status.finish();
}

function usualDetails(
  { code, retryAfterSeconds }: ServiceError,
  domain: string | undefined,
  details: object,
): StatusDetail[] {
  const usual: StatusDetail[] = [];
  if (domain !== undefined) usual.push(packed(ERROR_INFO, errorInfo(code, domain, details)));
  if (retryAfterSeconds !== undefined) usual.push(packed(RETRY_INFO, retryInfo(retryAfterSeconds)));
  return usual;
}

function packed(type: string, value: Uint8Array): StatusDetail {
  return { typeUrl: TYPE_PREFIX + type, value };
}

function errorInfo(code: string, domain: string, details: object): Uint8Array {
  const info = new BinaryWriter();
  info.tag(1, WireType.LengthDelimited).string(toUSVString(code));
  info.tag(2, WireType.LengthDelimited).string(domain);
  for (const [key, value] of Object.entries(details)) {
    const text = textOf(value);
    if (text === undefined) continue;
    info.tag(3, WireType.LengthDelimited).fork();
    info.tag(1, WireType.LengthDelimited).string(toUSVString(key));
    info.tag(2, WireType.LengthDelimited).string(text);
    info.join();
  }
  return info.finish();
}

/**
 * Metadata is text: other values are sent as JSON, and values that JSON cannot represent are
 * omitted.
 */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function retryInfo(seconds: number): Uint8Array {
  const whole = Math.floor(seconds);
  const delay = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  delay.tag(1, WireType.Varint).int64(whole);
  delay.tag(2, WireType.Varint).int32(Math.round((seconds - whole) * 1e9));
  return delay.join().finish();
}

/** Reads the details of a status; undefined if they are not valid. */
export function decodeStatusDetails(bytes: Uint8Array): StatusDetails | undefined {
  let reason: string | undefined;
  let retryAfterSeconds: number | undefined;
  const metadata: Record<string, string> = Object.create(null);
  const details: StatusDetail[] = [];
  try {
    for (const [number, value] of fieldsOf(bytes)) {
      if (number !== 3) continue;
      const any = new Map(fieldsOf(value as Uint8Array));
      const type = bytesToText(any.get(1));
      const packed = (any.get(2) as Uint8Array | undefined) ?? new Uint8Array();
      // A copy, since the bytes may share the memory of a larger buffer.
      details.push({ typeUrl: type, value: Uint8Array.from(packed) });
      if (type !== TYPE_PREFIX + ERROR_INFO && type !== TYPE_PREFIX + RETRY_INFO) continue;
      const inner = fieldsOf(packed);
      if (type === TYPE_PREFIX + ERROR_INFO) {
        for (const [field, part] of inner) {
          if (field === 1) reason = bytesToText(part);
          if (field !== 3) continue;
          const entry = new Map(fieldsOf(part as Uint8Array));
          metadata[bytesToText(entry.get(1))] = bytesToText(entry.get(2));
        }
      } else {
        const delay = new Map(fieldsOf((new Map(inner).get(1) as Uint8Array) ?? new Uint8Array()));
        retryAfterSeconds = Number(delay.get(1) ?? 0) + Number(delay.get(2) ?? 0) / 1e9;
      }
    }
  } catch {
    return undefined;
  }
  return { reason, metadata, retryAfterSeconds, details };
}

/** The fields of a message, undecoded: bytes, or a number that is reported as such. */
function fieldsOf(bytes: Uint8Array): [number, Uint8Array | number][] {
  const reader = new BinaryReader(bytes);
  const fields: [number, Uint8Array | number][] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) fields.push([number, reader.bytes()]);
    else if (type === WireType.Varint) fields.push([number, Number(reader.int64())]);
    else reader.skip(type, number);
  }
  return fields;
}

function bytesToText(value: Uint8Array | number | undefined): string {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : "";
}
