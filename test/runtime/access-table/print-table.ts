import { AUTHN_MODES, type AuthnMode } from "../../../src/api/authn-mode.ts";
import { ERROR_CODES, type ErrorCode } from "../../../src/runtime/error/error-codes.ts";
import { connectCode } from "../support/wire/error-forms.ts";
import { PROTOCOL_NAMES, PROTOCOLS, type Protocol } from "../support/wire/protocols.ts";
import { COLUMNS, type CredentialName, EXPECTED, expectedCell, RPCS } from "./expected.ts";

const MODES: Readonly<Record<AuthnMode, string>> = {
  gateway_trusted: "identity headers are accepted from trusted peers only; JWTs are ignored",
  idp_jwt: "JWTs are verified; identity headers are dropped",
  hybrid:
    "the JWT is used first; if it does not identify the caller, the headers of trusted peers are used",
  disabled: "no user is identified; for development only",
};

/** The codes of refusals, by their HTTP status. */
const REFUSALS: Readonly<Record<string, ErrorCode>> = {
  "400": "INVALID_ARGUMENT",
  "401": "UNAUTHORIZED",
  "403": "FORBIDDEN",
  "503": "UNAVAILABLE",
};

/** Their names in gRPC. */
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
    "The response of a service to a call depends on the exposure of the RPC, the authentication",
    "mode (`security.authn.mode`) and the credentials of the call. A cell with a name is the caller",
    "that the handler sees, and `-` means that it sees none; every other cell is a refusal. For each",
    "mode, the first table has the decisions as HTTP statuses; the tables below it have their",
    "forms in each protocol.",
    "",
    "The decision is the same for every protocol. A protocol may be unable to carry an RPC, which is",
    "checked before authentication: Connect GET refuses INTERNAL and SYSTEM RPCs and streams (405),",
    "and an HTTP route has no stream of requests (415). Connect GET also refuses RPCs without",
    "`NO_SIDE_EFFECTS` or a GET binding, and requests with a `debug_redact` field: see",
    "`test/runtime/hostile/rpc/connect-get.test.ts`.",
    "",
    "`test/runtime/access-table` makes each of these calls over each protocol, with HTTP/1.1 and",
    "HTTP/2 if the protocol supports both, and writes this page.",
  ];
  for (const mode of AUTHN_MODES) {
    parts.push("", `## ${mode}`, "", `${capitalized(MODES[mode])}.`, "");
    parts.push(...table("credentials", COLUMNS, decisionsOf(mode)));
    for (const [names, rows] of groupsOf(mode)) {
      parts.push("", `### ${mode}: ${names.join("; ")}`, "");
      parts.push(...table("RPC", PROTOCOL_NAMES, rows));
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

/** The decisions, by credential and exposure. */
function decisionsOf(mode: AuthnMode): Row[] {
  return Object.entries(EXPECTED[mode]).map(([name, cells]) => [name, ...cells.split(/\s+/)]);
}

/** The rows of a mode by RPC and protocol; credentials with the same rows are grouped. */
function groupsOf(mode: AuthnMode): [names: string[], rows: Row[]][] {
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

/** A cell in the form of a protocol. */
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
