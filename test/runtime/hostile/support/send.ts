import { fromBinary, fromJsonString } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../../../src/runtime/error/error-codes.ts";
import { columnsOf } from "../../../support/effort.ts";
import { targetOf } from "../../access-table/call.ts";
import { AnswerSchema } from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { errorForm } from "../../support/wire/error-forms.ts";
import { WIRE_NAMES, WIRES, type Wire, type WireName } from "../../support/wire/protocols.ts";
import { readResponse } from "../../support/wire/read-response.ts";
import { sendRequest } from "../../support/wire/send-request.ts";
import { requestOf } from "../../support/wire/wire-request.ts";
import type { Field } from "./raw-http.ts";
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

export interface Sent {
  readonly fields: readonly Field[];
  readonly from?: "trusted" | "stranger";
}

const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

let calls = 0;
let rowsBefore = 0;

/**
 * Calls an RPC and returns the outcome: `200 alice`, `200 -` without a caller, the status and code
 * of a refusal, or only the status if no protocol accepted the call. It also checks that the
 * handler saw the same caller, or did not run if the call was refused.
 */
export async function outcome(
  world: World,
  transport: WireName,
  exposure: Exposure,
  { fields, from = "stranger" }: Sent,
): Promise<string> {
  const wire: Wire = WIRES[transport];
  const requestId = `h${calls++}`;
  const before = world.handled.length;
  const answer = await call(world.port(wire.port, from), wire, exposure, [
    ["X-Request-Id", requestId],
    ...fields,
  ]);
  const handled = world.handled
    .slice(before)
    .filter(({ context }) => context.requestId === requestId);
  if (!answer.startsWith("200 ")) expect(handled).toEqual([]);
  else {
    expect(handled).toHaveLength(1);
    expect(`200 ${handled[0]?.principal?.subjectId ?? "-"}`).toBe(answer);
  }
  return answer;
}

async function call(
  port: number,
  wire: Wire,
  exposure: Exposure,
  fields: readonly Field[],
): Promise<string> {
  const target = targetOf(exposure, wire.form);
  const request = requestOf(wire, target);
  const response = await sendRequest(port, wire, {
    ...request,
    fields: [...request.fields, ...fields],
  });
  if (response === undefined) return "no response";
  const answer = readResponse(wire, target, response);
  const { code, reason, httpStatus, requestId, answers, body } = answer;
  expect(requestId).toMatch(REQUEST_ID);
  if (code === undefined) return String(httpStatus);
  if (reason === undefined) {
    const [message = Buffer.alloc(0)] = answers;
    const { subjectId } =
      wire.codec === "json"
        ? fromJsonString(AnswerSchema, message.toString())
        : fromBinary(AnswerSchema, message);
    expect(requestId).toBe(fields[0]?.[1]);
    return `200 ${subjectId || "-"}`;
  }
  expect({ code, httpStatus }).toEqual(
    errorForm(wire, target.isStreaming, ERROR_CODES[reason as ErrorCode]),
  );
  if (body !== undefined) expectErrorBody(body, httpStatus, requestId);
  return `${ERROR_CODES[reason as ErrorCode].http} ${reason}`;
}

const CODES: Readonly<Record<string, string>> = {
  "400": "400 INVALID_ARGUMENT",
  "401": "401 UNAUTHORIZED",
  "403": "403 FORBIDDEN",
  "503": "503 UNAVAILABLE",
};

/** RPCs for other services are not available by GET to any caller (docs/requirements.md, TRANS-3). */
const NOT_BY_GET: ReadonlySet<Exposure> = new Set(["INTERNAL", "SYSTEM"]);

/** A row such as `- 401 alice 403 403`, in the order of the exposures, as outcomes. */
function expectedRow(row: string, transport: WireName): Record<Exposure, string> {
  const isGet = WIRES[transport].form === "connect_get";
  const cells = row.trim().split(/\s+/);
  const all = cells.length === 1 ? EXPOSURES.map(() => cells[0] as string) : cells;
  expect(all).toHaveLength(EXPOSURES.length);
  const entries = EXPOSURES.map((exposure, index) => {
    const cell = all[index] as string;
    if (isGet && NOT_BY_GET.has(exposure)) return [exposure, "405"];
    return [exposure, CODES[cell] ?? `200 ${cell}`];
  });
  return Object.fromEntries(entries) as Record<Exposure, string>;
}

/** Expects a row such as `- 401 alice 403 403` of calls over every protocol in CI, otherwise over some of them in turn. */
export async function expectRows(
  world: World,
  row: string,
  sent: Sent,
  transports: readonly WireName[] = WIRE_NAMES,
): Promise<void> {
  const rows = columnsOf(transports, rowsBefore++, 8).map(async (transport) => {
    const got = await outcomeRow(world, transport, sent);
    expect({ transport, ...got }).toEqual({ transport, ...expectedRow(row, transport) });
  });
  await Promise.all(rows);
}

/** The outcome of a call of each exposure. */
async function outcomeRow(
  world: World,
  transport: WireName,
  sent: Sent,
): Promise<Record<Exposure, string>> {
  const row = EXPOSURES.map(
    async (exposure): Promise<[Exposure, string]> => [
      exposure,
      await outcome(world, transport, exposure, sent),
    ],
  );
  return Object.fromEntries(await Promise.all(row)) as Record<Exposure, string>;
}
