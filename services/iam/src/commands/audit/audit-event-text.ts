import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Column, printable } from "../run/print.ts";

/** What is shown of an event. */
export const EVENT_COLUMNS: readonly Column<JsonObject>[] = [
  ["TIME", ({ time }) => textOf(time)],
  [
    "RESULT",
    ({ data }) => {
      const { state, code } = objectOf(data);
      return state === "completed" ? textOf(code) : textOf(state).toUpperCase();
    },
  ],
  ["RISK", ({ data }) => textOf(objectOf(data)["risk_level"])],
  ["EVENT", ({ type }) => textOf(type)],
  [
    "CALLER",
    ({ data }) => {
      const caller = objectOf(objectOf(data)["principal"]);
      return caller["type"] === undefined
        ? "-"
        : `${textOf(caller["type"])}:${textOf(caller["id"])}`;
    },
  ],
  ["OBJECT", ({ data }) => textOf(objectOf(data)["resource"])],
  ["DECISION", ({ data }) => textOf(objectOf(data)["decision"])],
  ["RPC", ({ data }) => textOf(objectOf(data)["rpc"])],
  [
    "REQUEST",
    ({ data }) => {
      const { repeats, request_id: request } = objectOf(data);
      const { count, last } = objectOf(repeats);
      const times = count === undefined ? "" : `×${textOf(count)} until ${textOf(last)} `;
      return `${times}${textOf(request)}`;
    },
  ],
  ["REASON", ({ data }) => reasonOf(objectOf(data))],
];

/** An event as a line, in the order of the columns: of a list whose widths are not known yet. */
export function formatEvent(event: JsonObject): string {
  return printable(EVENT_COLUMNS.map(([, text]) => text(event)).join(" "));
}

/** Why it was refused: what the service recorded, or the right that the caller lacks. */
function reasonOf({ details, authz }: JsonObject): string {
  const { reason } = objectOf(details);
  const { decision, action, resource } = objectOf(authz);
  if (reason !== undefined) return textOf(reason);
  return decision === "denied" ? `needs ${textOf(action)} on ${textOf(resource)}` : "-";
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined || value === null || value === "" ? "-" : String(value);
}
