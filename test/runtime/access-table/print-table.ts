import { ERROR_CODES, type ErrorCode } from "../../../src/runtime/error/error-codes.ts";
import { connectCode } from "../support/wire/error-forms.ts";
import { PROTOCOL_NAMES, PROTOCOLS, type Protocol } from "../support/wire/protocols.ts";
import {
  COLUMNS,
  type CredentialName,
  EXPECTED,
  expectedCell,
  type Mode,
  RPCS,
} from "./expected.ts";

const MODES: Readonly<Record<Mode, string>> = {
  gateway_trusted: "identity headers count, from trusted peers only; JWTs are not looked at",
  idp_jwt: "JWTs count; identity headers are dropped",
  hybrid: "the JWT first; where it does not identify the caller, the headers of trusted peers",
  disabled: "nobody is identified; for development only",
};

/** The codes of the refusals of the table, by their HTTP status. */
const REFUSALS: Readonly<Record<string, ErrorCode>> = {
  "400": "INVALID_ARGUMENT",
  "401": "UNAUTHORIZED",
  "403": "FORBIDDEN",
  "503": "UNAVAILABLE",
};

/** As gRPC names them. */
const GRPC_NAMES: Readonly<Record<number, string>> = {
  3: "INVALID_ARGUMENT",
  7: "PERMISSION_DENIED",
  14: "UNAVAILABLE",
  16: "UNAUTHENTICATED",
};

/** The table as `docs/access-table.md`. */
export function accessTableDocument(): string {
  const parts = [
    "# Who may call what",
    "",
    "What a service answers, by the exposure of the RPC, the mode of authentication",
    "(`security.authn.mode`), what the call carries and the protocol that it comes by. A name is",
    "the caller that the handler sees, `-` nobody; all else is the refusal. Of each mode, the",
    "first table says what is decided, by the HTTP status; the tables after it say how that is",
    "expressed in each protocol.",
    "",
    "The decision is the same whichever protocol a call comes by. A protocol only may not carry an",
    "RPC, which is checked before authentication: Connect's GET is never for INTERNAL and",
    "SYSTEM, nor for streams (405), and a route has no stream of requests (415). Nor is it for RPCs",
    "without `NO_SIDE_EFFECTS` or a binding of GET, and requests with a `debug_redact` field:",
    "`test/runtime/hostile/connect-get.test.ts`.",
    "",
    "`test/runtime/access-table` makes each of these calls, by each protocol, over HTTP/1.1 and",
    "HTTP/2 where the protocol has both, and writes this page.",
  ];
  for (const mode of Object.keys(EXPECTED) as Mode[]) {
    parts.push("", `## ${mode}`, "", `${capitalized(MODES[mode])}.`, "");
    parts.push(...table("the call carries", COLUMNS, decisionsOf(mode)));
    for (const [names, rows] of groupsOf(mode)) {
      parts.push("", `### ${mode}: ${names.join("; ")}`, "");
      parts.push(...table("the RPC", PROTOCOL_NAMES, rows));
    }
  }
  return `${parts.join("\n")}\n`;
}

type Row = readonly string[];

function table(first: string, columns: readonly string[], rows: readonly Row[]): string[] {
  const line = (cells: Row) => `| ${cells.join(" | ")} |`;
  return [
    line([first, ...columns]),
    `|---|${columns.map(() => "---").join("|")}|`,
    ...rows.map(line),
  ];
}

/** What is decided, by credential and exposure. */
function decisionsOf(mode: Mode): Row[] {
  return Object.entries(EXPECTED[mode]).map(([name, cells]) => [name, ...cells.split(/\s+/)]);
}

/** The rows of a mode by RPC and protocol; credentials with which they are the same stand together. */
function groupsOf(mode: Mode): [names: string[], rows: Row[]][] {
  const groups = new Map<string, [names: string[], rows: Row[]]>();
  for (const name of Object.keys(EXPECTED[mode]) as CredentialName[]) {
    const rows = RPCS.map((rpc): Row => {
      const reported = (protocol: Protocol) =>
        form(protocol, expectedCell(mode, name, rpc, protocol));
      return [rpc, ...PROTOCOL_NAMES.map(reported)];
    });
    const known = groups.get(JSON.stringify(rows));
    if (known === undefined) groups.set(JSON.stringify(rows), [[name], rows]);
    else known[0].push(name);
  }
  return [...groups.values()];
}

/** A cell in the words of a protocol. */
function form(protocol: Protocol, cell: string): string {
  const code = REFUSALS[cell];
  if (code === undefined) return cell;
  const { http, grpc } = ERROR_CODES[code];
  switch (PROTOCOLS[protocol][0].form) {
    case "route":
      return String(http);
    case "connect":
    case "connect_get":
      return connectCode(grpc);
    default:
      return GRPC_NAMES[grpc] as string;
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
