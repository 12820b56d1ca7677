import { ResponseBodyError } from "openid-client";
import { PROVIDER_PATH } from "../../config/provider-paths.ts";
import { ResponseTooLargeError } from "../../provider/oidc/bounded-fetch.ts";
import { oneLine } from "../run/print.ts";
import { whyUnreachable } from "../run/why-unreachable.ts";
import { isPrivate } from "./server-url.ts";

/** Nobody approved a login while its code was valid. */
export const NOT_APPROVED = "nobody approved the login in time: run svc-iam login again";

/** What a person can do about a refusal of the issuer, by its code (RFC 6749, RFC 8628). */
const PROBLEMS: Readonly<Record<string, string>> = {
  access_denied: "the login was refused in the browser",
  expired_token: NOT_APPROVED,
  invalid_client:
    "the server does not know the client of the command line: declare it in iam.clients with flows: [device], or name another one with --client-id",
  invalid_grant: "the login has ended: run svc-iam login",
  unauthorized_client:
    "the client may not log devices in: add device to its flows in iam.clients, or name another one with --client-id",
};

/** The most characters of an issuer's answer that a message repeats. */
const MOST_NAMED = 200;

/** What an address that is not of an identity provider answers with. */
const NO_PROVIDER = /unexpected HTTP response status|Content-Type/;

/** Why a request to an issuer failed, and what the person can do. */
export function issuerProblem(issuer: string, error: Error): string {
  if (error instanceof ResponseBodyError) {
    const { status, error: code, error_description: description } = error;
    if (status === 503) return cannotAnswer(issuer);
    if (Object.hasOwn(PROBLEMS, code)) return PROBLEMS[code] as string;
    const said = description === undefined ? "" : `: ${repeated(String(description))}`;
    return `the server refuses the login (${repeated(code)}${said})`;
  }
  const tooLarge = causesOf(error).find((cause) => cause instanceof ResponseTooLargeError);
  if (tooLarge !== undefined) {
    return `the identity provider ${issuer} cannot be used: ${tooLarge.message}: check the address`;
  }
  if (causesOf(error).some((cause) => cause instanceof Response && cause.status === 503)) {
    return cannotAnswer(issuer);
  }
  const other = otherIssuerOf(error);
  if (other !== undefined) {
    return `the identity provider ${issuer} calls itself ${other}: ${useOf(other)}`;
  }
  const { cause, message } = error;
  const { message: reason = "" } = (cause ?? {}) as { readonly message?: string };
  const isElsewhere = NO_PROVIDER.test(`${message} ${reason}`);
  const fix = isElsewhere
    ? "no identity provider is there: check the address"
    : whyUnreachable(error);
  // The errors of OpenSSL have lines of their own.
  const [line = ""] = (reason === "" ? message : reason).split("\n");
  return `the identity provider ${issuer} cannot be reached or used: ${fix ?? line}`;
}

/** What the issuer says, as a part of a line. */
function repeated(text: string): string {
  const line = oneLine(text);
  return line.length > MOST_NAMED ? `${line.slice(0, MOST_NAMED)}…` : line;
}

/** As other commands say it of the API. */
function cannotAnswer(issuer: string): string {
  return `the server ${new URL(issuer).origin} cannot answer now (503): look at /readyz and the log of the server, and repeat the command`;
}

/** The issuer that the metadata names, if it is not the one that was asked. */
function otherIssuerOf(error: Error): string | undefined {
  for (const cause of causesOf(error)) {
    const { attribute, body } = cause as { attribute?: unknown; body?: { issuer?: unknown } };
    const named = attribute === "issuer" ? body?.issuer : undefined;
    if (typeof named !== "string" || named.length > MOST_NAMED || !URL.canParse(named)) continue;
    // Of another one, nobody can log in.
    if (isPrivate(new URL(named))) return oneLine(named);
  }
  return undefined;
}

function useOf(issuer: string): string {
  const { origin } = new URL(issuer);
  const isOurs = issuer === `${origin}${PROVIDER_PATH}`;
  return isOurs ? `use ${origin}, which is its iam.public_url` : `use --issuer ${issuer}`;
}

/** What led to an error: errors, and the responses and values that the library gives as their cause. */
function causesOf(error: Error): readonly object[] {
  const causes: object[] = [];
  let { cause } = error;
  while (typeof cause === "object" && cause !== null && !causes.includes(cause)) {
    causes.push(cause);
    ({ cause } = cause as { cause?: unknown });
  }
  return causes;
}
