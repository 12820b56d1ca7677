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

const STATUS_HEADER = "grpc-status";
const MESSAGE_HEADER = "grpc-message";

/** The trailers of a call that went well. */
export const OK_TRAILERS: OutgoingHttpHeaders = Object.freeze({ [STATUS_HEADER]: status.OK });

/** The status of a call that failed, as trailers. Of INTERNAL nothing is told, whoever threw it. */
export function statusTrailers(thrown: ServiceError, domain: string): OutgoingHttpHeaders {
  const error = thrown.code === "INTERNAL" ? new ServiceError("INTERNAL") : thrown;
  const trailers: OutgoingHttpHeaders = {
    [STATUS_HEADER]: error.grpcStatus,
    // Half a surrogate pair would make encodeURI throw.
    [MESSAGE_HEADER]: encodeURI(toUSVString(error.message.slice(0, MAX_MESSAGE_CHARACTERS))),
    [STATUS_DETAILS_HEADER]: Buffer.from(
      encodeStatusDetails(error, domain, MAX_DETAILS_BYTES),
    ).toString("base64"),
  };
  if (error.retryAfterSeconds !== undefined) {
    trailers["retry-after"] = String(Math.ceil(error.retryAfterSeconds));
  }
  return trailers;
}
