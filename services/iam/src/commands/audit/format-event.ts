import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { printable } from "../run/print.ts";

/** An event as a line of text: time, result, risk, type, caller, object, decision, RPC, request. */
export function formatEvent({ time, type, data }: JsonObject): string {
  const fields = objectOf(data);
  const { state, code, risk_level, principal, resource, decision, rpc, repeats, request_id } =
    fields;
  const caller = objectOf(principal);
  const counted = objectOf(repeats);
  const parts = [
    textOf(time),
    state === "completed" ? textOf(code) : textOf(state).toUpperCase(),
    textOf(risk_level),
    textOf(type),
    principal === undefined ? "-" : `${textOf(caller["type"])}:${textOf(caller["id"])}`,
    textOf(resource),
    textOf(decision),
    textOf(rpc),
    ...(repeats === undefined
      ? []
      : [`×${textOf(counted["count"])} until ${textOf(counted["last"])}`]),
    textOf(request_id),
  ];
  return printable(parts.join(" "));
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined || value === null || value === "" ? "-" : String(value);
}
