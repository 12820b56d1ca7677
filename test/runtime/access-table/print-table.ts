import { COLUMNS, type CredentialName, EXPECTED, type Mode } from "./expected.ts";

const MODES: Readonly<Record<Mode, string>> = {
  gateway_trusted: "identity headers count, from trusted peers only; JWTs are not looked at",
  idp_jwt: "JWTs count; identity headers are dropped",
  hybrid: "the JWT first; where it does not identify the caller, the headers of trusted peers",
  disabled: "nobody is identified; for development only",
};

/** The table as `docs/access-table.md`. */
export function accessTableDocument(): string {
  const parts = [
    "# Who may call what",
    "",
    "What a service answers, by the exposure of the RPC, the mode of authentication",
    "(`security.authn.mode`) and what the call carries. A name is whom the handler is told",
    "that calls, `-` nobody; a number is the HTTP status of the refusal. Over gRPC it is the",
    "same: 400 is INVALID_ARGUMENT, 401 UNAUTHENTICATED, 403 PERMISSION_DENIED, 503 UNAVAILABLE.",
    "",
    "`test/runtime/access-table` makes each of these calls over HTTP and over gRPC, and writes",
    "this page.",
  ];
  for (const [mode, rows] of Object.entries(EXPECTED) as [Mode, Record<CredentialName, string>][]) {
    parts.push("", `## ${mode}`, "", `${capitalized(MODES[mode])}.`, "");
    parts.push(`| the call carries | ${COLUMNS.join(" | ")} |`);
    parts.push(`|---|${COLUMNS.map(() => "---").join("|")}|`);
    for (const [name, cells] of Object.entries(rows)) {
      parts.push(`| ${name} | ${cells.split(/\s+/).join(" | ")} |`);
    }
  }
  return `${parts.join("\n")}\n`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
