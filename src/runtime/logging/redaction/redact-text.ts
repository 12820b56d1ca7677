import { INVISIBLE, UNPRINTABLE, writtenOut } from "../../../common/printable.ts";
import { REDACTED, withoutNamedSecrets } from "./named-secrets.ts";

/**
 * Characters that a terminal or a log viewer would interpret, such as the escape of ANSI sequences.
 * Line feeds and tabs stay: JSON writes them as `\n` and `\t`, and lone surrogates as escapes.
 */
const CLASS = `[[${UNPRINTABLE}${INVISIBLE}]--[\\t\\n]]`;
const UNSAFE = new RegExp(CLASS, "v");
const ALL_UNSAFE = new RegExp(CLASS, "gv");

/** The text with the characters that a viewer would interpret escaped, such as `\u001b`. */
export function cleanText(text: string): string {
  return UNSAFE.test(text) ? text.replace(ALL_UNSAFE, writtenOut) : text;
}

/** The text on one line, with these characters escaped, and at most a number of characters long. */
export function cleanLine(text: string, maxLength: number): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return cleanText(short).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** Longer texts are truncated: they do not belong in a log line. */
const MAX_LENGTH = 16 * 1024;

/** Without one of these no pattern below matches; most texts end here. */
const SUSPICIOUS =
  /pass|pwd|pw\b|secret|token|key|auth|cookie|credential|jwt|code|state|sess|sid|sig|saml|identified|bearer|basic|assertion|eyJ|:\/\/[^\s]{0,1300}@|%[0-9a-f]{2}|\\u00[3-7]/i;

const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}-----|$)/g;
const JSON_WEB_TOKEN = /\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)*/g;
const SCHEME = /\b(bearer|basic)\s+(?=\S*[0-9=])[\w.~+/=-]{6,}/gi;
const USER_INFO = /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@]{0,256}):[^\s/?#]{0,1024}@/gi;
/**
 * The same for a password that is not encoded, so that the text is not a URL; a text that begins
 * like a port is not a password.
 */
const RAW_USER_INFO =
  /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@[]{0,256}):(?!\d{1,5}[/?#]|\*\*\*@)[^\s"'<>]{1,1024}@/gi;
/** A token in place of the user, as in Git URLs. */
const USER_TOKEN = /([a-z][a-z0-9+.-]{0,30}:\/\/)(?=[^\s/?#:@]{0,256}\d)[^\s/?#:@]{16,256}@/gi;
/** The cookies of a request are pairs themselves, so the whole line is removed. */
const COOKIES = /((?:set-)?cookie["']?\s{0,8}[=:]\s{0,8}["']?)[^\r\n"']+/gi;
/**
 * A text without the secrets that can be recognized in it: values of secret keys in queries,
 * headers and JSON, passwords in URLs, bearer credentials, JSON Web Tokens, private keys.
 * Characters that a viewer would interpret are escaped.
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
    .replace(RAW_USER_INFO, `$1:${REDACTED}@`)
    .replace(USER_TOKEN, `$1${REDACTED}@`)
    .replace(COOKIES, `$1${REDACTED}`);
  return withoutNamedSecrets(unnamed).replace(SCHEME, `$1 ${REDACTED}`);
}
