import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import { decodeStatusDetails } from "../../../src/runtime/error/status-details.ts";
import { laxSession } from "../hostile/support/lax-session.ts";
import { type GrpcInput, grpcInput } from "./grpc-inputs.ts";
import { callersOf, seenOverHttp2 } from "./oracle.ts";
import type { Random } from "./random.ts";
import type { Lane } from "./run.ts";
import type { Pending, Subject } from "./subject.ts";

/** The number of bytes after which reading a stream stops. */
const MAX_ANSWER = 128 * 1024;
/** OK, CANCELLED, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, UNAUTHENTICATED. */
const STATUSES: readonly number[] = [0, 1, 3, 4, 5, 7, 8, 12, 13, 16];

/** Responses to requests that are not gRPC. */
const REFUSALS: readonly number[] = [400, 404, 405, 415, 431];

/** A lane has its own connection, which it keeps as long as the server does. */
export function grpcLane(
  subject: Subject,
  random: Random,
  from: "trusted" | "stranger",
  statuses: Map<number, number>,
  port: "grpc" | "http" = "grpc",
): Lane {
  let session: ClientHttp2Session | undefined;
  return {
    async next() {
      if (session === undefined || session.destroyed || session.closed) {
        session = laxSession(subject.world.port(port, from));
      }
      const input = grpcInput(random, subject.credentials);
      const carried = { mode: subject.mode, isTrusted: from === "trusted", fields: input.fields };
      const shown = JSON.stringify({
        from,
        ...input,
        pieces: input.pieces.map((one) => one.subarray(0, 99).toString("hex")),
      });
      const pending: Pending = {
        callers: seenOverHttp2(carried).flatMap((one) => callersOf(one, subject.credentials)),
        isLoose: false,
        text: shown,
        seen: undefined,
      };
      subject.register(input.requestId, pending);
      const answer = await call(session, input);
      if (answer === undefined) return;
      const status = Number(answer.headers["grpc-status"] ?? -1);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const problem = problemOf(answer, input, pending, port);
      if (problem !== undefined) {
        subject.violations.push(`${problem}: ${JSON.stringify(answer.headers)} for ${shown}`);
      }
    },
    close: () => session?.destroy(),
  };
}

interface GrpcAnswer {
  /** Headers and trailers. */
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The response; undefined if the call or its connection was cut off, or if the client itself refuses to send it. */
function call(session: ClientHttp2Session, input: GrpcInput): Promise<GrpcAnswer | undefined> {
  return new Promise((resolve) => {
    let stream: ClientHttp2Stream;
    try {
      stream = session.request(input.headers);
    } catch {
      return resolve(undefined);
    }
    let headers: IncomingHttpHeaders = {};
    let body = "";
    stream.on("response", (some) => (headers = { ...headers, ...some }));
    stream.on("trailers", (some) => (headers = { ...headers, ...some }));
    stream.on("data", (chunk: Buffer) => {
      body += chunk.toString("latin1");
      if (body.length > MAX_ANSWER) stream.close(8);
    });
    stream.on("error", () => undefined);
    stream.once("close", () => {
      const isAnswered = headers["grpc-status"] !== undefined || Number(headers[":status"]) > 200;
      resolve(isAnswered ? { headers, body } : undefined);
    });
    for (const piece of input.pieces) if (!stream.destroyed) stream.write(piece);
    if (input.isTakenBack) stream.close(8);
    else stream.end();
  });
}

/** The error in a response; undefined if there is none. */
function problemOf(
  answer: GrpcAnswer,
  input: GrpcInput,
  pending: Pending,
  port: "grpc" | "http",
): string | undefined {
  const { headers, body } = answer;
  const httpStatus = Number(headers[":status"]);
  if (headers["grpc-status"] === undefined) {
    // On the HTTP port, a request that is not gRPC may match a route.
    const refusals = port === "http" ? [...REFUSALS, 204, 401, 403] : REFUSALS;
    return refusals.includes(httpStatus) ? undefined : "no status";
  }
  const status = Number(headers["grpc-status"]);
  if (httpStatus !== 200 || !STATUSES.includes(status))
    return "a status that nothing here declares";
  if (headers["x-request-id"] !== undefined && headers["x-request-id"] !== input.requestId) {
    return "another's request id";
  }
  if (status === 0) {
    const seen = pending.seen?.caller?.subjectId;
    if (
      body.length > 7 &&
      pending.seen !== undefined &&
      seen !== undefined &&
      !body.includes(seen)
    ) {
      return `the answer is not ${seen}'s`;
    }
    return undefined;
  }
  const details = headers["grpc-status-details-bin"];
  if (typeof details !== "string") return "no details";
  const reason = decodeStatusDetails(Buffer.from(details, "base64"))?.reason;
  // gRPC has INTERNAL for a compressed message without an encoding.
  if (status === 13 && reason !== "INVALID_ARGUMENT") return "an error of the server";
  return reason !== undefined && /^[A-Z_]+$/.test(reason) ? undefined : "no reason";
}
