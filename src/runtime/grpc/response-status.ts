import type { OutgoingHttpHeaders } from "node:http2";
import { toUSVString } from "node:util";
import { status } from "../error/grpc-status.ts";
import { ServiceError } from "../error/service-error.ts";
import {
  encodeStatusDetails,
  MAX_MESSAGE_CHARACTERS,
  STATUS_DETAILS_HEADER,
} from "./status-details.ts";

/** Trailers are headers, and clients bound those: 8 KiB is the usual limit of all of them. */
const MAX_DETAILS_BYTES = 4096;

/** All but printable ASCII, and the percent sign itself (the encoding of `grpc-message`). */
const TO_ENCODE = /[^\x20-\x24\x26-\x7e]+/g;

/** The trailers of a call that went well. */
export const OK_TRAILERS: OutgoingHttpHeaders = Object.freeze({ "grpc-status": status.OK });

/** The trailers of a call that failed. Of INTERNAL nothing is told, whoever threw it. */
export function errorTrailers(thrown: ServiceError, domain: string): OutgoingHttpHeaders {
  const error = thrown.code === "INTERNAL" ? new ServiceError("INTERNAL") : thrown;
  const trailers: OutgoingHttpHeaders = {
    "grpc-status": error.grpcStatus,
    "grpc-message": encodeMessage(error.message),
  };
  const details = encodeStatusDetails(error, domain, MAX_DETAILS_BYTES);
  trailers[STATUS_DETAILS_HEADER] = Buffer.from(details).toString("base64");
  if (error.retryAfterSeconds !== undefined) {
    trailers["retry-after"] = String(Math.ceil(error.retryAfterSeconds));
  }
  return trailers;
}

function encodeMessage(message: string): string {
  // Half a surrogate pair would make encodeURIComponent throw.
  const text = toUSVString(message.slice(0, MAX_MESSAGE_CHARACTERS));
  return text.replace(TO_ENCODE, encodeURIComponent);
}
