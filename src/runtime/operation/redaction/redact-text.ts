import { cleanText } from "./clean-text.ts";
import { isSecretKey, REDACTED } from "./secret-keys.ts";

/** Longer texts are cut: a log line is no place for them. */
const MAX_LENGTH = 16 * 1024;

/** Without one of these no pattern below matches; most texts end here. */
const SUSPICIOUS =
  /pass|pwd|secret|token|key|auth|cookie|credential|jwt|code|state|sess|sig|bearer|basic|assertion|eyJ|:\/\/[^\s/]*@|%[0-9a-f]{2}/i;

const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}-----|$)/g;
const JSON_WEB_TOKEN = /\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)*/g;
const SCHEME = /\b(bearer|basic)\s+(?=\S*[0-9=])[\w.~+/=-]{6,}/gi;
const USER_INFO = /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@]{0,256}):[^\s/?#]{0,1024}@/gi;
/** The cookies of a request are pairs themselves, so all of the line goes. */
const COOKIES = /((?:set-)?cookie["']?\s{0,8}[=:]\s{0,8}["']?)[^\r\n"']+/gi;
/** A name and the `=` or `:` behind it: of queries, of headers, of JSON that cannot be parsed, also escaped. */
const NAME = /([A-Za-z0-9_.%-]{1,96})\\{0,8}["']?\s{0,8}[=:]\s{0,8}/g;
/** The value behind a name. */
const VALUE =
  /(?:(?:bearer|basic|digest)\s+)?(?:(\\+")[^"]*"|(")(?:[^"\\]|\\.)*"?|(')[^']*'?|[^\s&;,"'{}[\]\\]+)/iy;
/** Secret in the query of a login, though no key elsewhere. */
const QUERY_SECRET =
  /^(?:code|state|codeverifier|assertion|clientassertion|sig|signature|session|sessionid|sid|samlresponse)$/i;

/**
 * A text without the secrets that can be told in it: values of secret keys in
 * queries, headers and JSON, passwords in URLs, bearer credentials, JSON Web
 * Tokens, private keys. What a viewer would act on is written out.
 */
export function redactText(text: string): string {
  const short =
    text.length > MAX_LENGTH
      ? `${text.slice(0, MAX_LENGTH)}… (${text.length - MAX_LENGTH} more characters)`
      : text;
  return cleanText(SUSPICIOUS.test(short) ? withoutSecrets(short) : short);
}

function withoutSecrets(text: string): string {
  const unnamed = text
    .replace(PRIVATE_KEY, REDACTED)
    .replace(JSON_WEB_TOKEN, REDACTED)
    .replace(USER_INFO, `$1:${REDACTED}@`)
    .replace(COOKIES, `$1${REDACTED}`);
  return withoutNamedSecrets(unnamed).replace(SCHEME, `$1 ${REDACTED}`);
}

function withoutNamedSecrets(text: string): string {
  let redacted = "";
  let from = 0;
  NAME.lastIndex = 0;
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    const [{ length }, name = ""] = match;
    if (!isSecretName(name, text[match.index - 1])) continue;
    VALUE.lastIndex = match.index + length;
    const value = VALUE.exec(text);
    if (value === null) continue;
    // Quotes stay where they were, so that what was JSON still looks it.
    const quote = value[1] ?? value[2] ?? value[3] ?? "";
    redacted += `${text.slice(from, match.index + length)}${quote}${REDACTED}${quote}`;
    from = VALUE.lastIndex;
    NAME.lastIndex = from;
  }
  return redacted + text.slice(from);
}

function isSecretName(text: string, before: string | undefined): boolean {
  const name = text.includes("%") ? decoded(text) : text;
  if (isSecretKey(name)) return true;
  const inQuery = before === "?" || before === "&";
  return inQuery && QUERY_SECRET.test(name.replaceAll(/[_-]/g, ""));
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
