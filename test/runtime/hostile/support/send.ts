import {
  type ClientHttp2Session,
  type ClientSessionOptions,
  connect,
  type OutgoingHttpHeaders,
} from "node:http2";
import { fromBinary } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../../../src/runtime/error/error-codes.ts";
import { targetOf } from "../../access-table/call.ts";
import { AnswerSchema } from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { frame, rawCall } from "../../grpc/support/raw-call.ts";
import { type Field, headerOf, requestText, sendText } from "./raw-http.ts";
import { expectErrorBody, type World } from "./world.ts";

/** An RPC of each exposure; alice may see the document of AUTHORIZED. */
export const EXPOSURES = [
  "PUBLIC",
  "AUTHENTICATED",
  "AUTHORIZED, allowed",
  "INTERNAL",
  "SYSTEM",
] as const;
export type Exposure = (typeof EXPOSURES)[number];
export const TRANSPORTS = ["http", "grpc"] as const;

export interface Sent {
  readonly fields: readonly Field[];
  readonly from?: "trusted" | "stranger";
}

/**
 * Calls an RPC and says what came of it: `200 alice`, `200 -` for nobody, or the status and code
 * of a refusal. On the way it looks whether the handler saw the same, and nothing where the call
 * was refused.
 */
export async function outcome(
  world: World,
  transport: "http" | "grpc",
  exposure: Exposure,
  { fields, from = "stranger" }: Sent,
): Promise<string> {
  const port = world.port(transport, from);
  const before = world.handled.length;
  const answer =
    transport === "http"
      ? await overHttp(port, exposure, fields)
      : await overGrpc(port, exposure, fields);
  const handled = world.handled.slice(before);
  if (!answer.startsWith("200 ")) expect(handled).toEqual([]);
  else {
    expect(handled).toHaveLength(1);
    expect(`200 ${handled[0]?.principal?.subjectId ?? "-"}`).toBe(answer);
  }
  return answer;
}

async function overHttp(
  port: number,
  exposure: Exposure,
  fields: readonly Field[],
): Promise<string> {
  const { method, path } = targetOf(exposure);
  const json: Field[] = method === "POST" ? [["Content-Type", "application/json"]] : [];
  const body = method === "POST" ? "{}" : "";
  const text = requestText(`${method} ${path}`, [...json, ...fields], body);
  const [response, ...others] = await sendText(port, text);
  expect(others).toEqual([]);
  if (response === undefined) return "no response";
  const { status, body: answer } = response;
  const requestId = headerOf(response, "x-request-id");
  if (status === 200)
    return `200 ${(JSON.parse(answer) as { subjectId?: string }).subjectId || "-"}`;
  expectErrorBody(answer, status, requestId);
  return `${status} ${(JSON.parse(answer) as { code: string }).code}`;
}

async function overGrpc(
  port: number,
  exposure: Exposure,
  fields: readonly Field[],
): Promise<string> {
  const { rpc, message } = targetOf(exposure);
  const session = laxSession(port);
  const answer = await rawCall(session, rpc, metadataOf(fields), frame(message));
  session.destroy();
  const { grpcStatus, reason, headers, body, streamError } = answer;
  if (grpcStatus === 0) return `200 ${fromBinary(AnswerSchema, body.subarray(5)).subjectId || "-"}`;
  if (reason === undefined) return `no status: ${streamError ?? answer.httpStatus}`;
  expect(grpcStatus).toBe(ERROR_CODES[reason as ErrorCode].grpc);
  expect(headers["x-request-id"]).toMatch(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/);
  return `${ERROR_CODES[reason as ErrorCode].http} ${reason}`;
}

/** A connection of a client that sends twice what Node's own sends once. */
export function laxSession(port: number): ClientHttp2Session {
  const options = { strictSingleValueFields: false } as ClientSessionOptions;
  const session = connect(`http://127.0.0.1:${port}`, options);
  session.on("error", () => undefined);
  return session;
}

/** Fields as metadata: names in lower case, several values of a name as a list. */
export function metadataOf(fields: readonly Field[]): OutgoingHttpHeaders {
  const headers: Record<string, string[]> = {};
  for (const [name, value] of fields) (headers[name.toLowerCase()] ??= []).push(value);
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]),
  );
}

const CODES: Readonly<Record<string, string>> = {
  "400": "400 INVALID_ARGUMENT",
  "401": "401 UNAUTHORIZED",
  "403": "403 FORBIDDEN",
  "503": "503 UNAVAILABLE",
};

/** A row such as `- 401 alice 403 403`, in the order of the exposures, as outcomes. */
export function expectedRow(row: string): Record<Exposure, string> {
  const cells = row.trim().split(/\s+/);
  const all = cells.length === 1 ? EXPOSURES.map(() => cells[0] as string) : cells;
  expect(all).toHaveLength(EXPOSURES.length);
  const entries = EXPOSURES.map((exposure, index) => {
    const cell = all[index] as string;
    return [exposure, CODES[cell] ?? `200 ${cell}`];
  });
  return Object.fromEntries(entries) as Record<Exposure, string>;
}

/** What came of a call of each exposure, one after the other. */
export async function outcomeRow(
  world: World,
  transport: "http" | "grpc",
  sent: Sent,
): Promise<Record<Exposure, string>> {
  const row: [Exposure, string][] = [];
  for (const exposure of EXPOSURES)
    row.push([exposure, await outcome(world, transport, exposure, sent)]);
  return Object.fromEntries(row) as Record<Exposure, string>;
}
