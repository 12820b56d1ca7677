import { INVISIBLE, UNPRINTABLE, writtenOut } from "../../../common/unsafe-characters.ts";
import { REDACTED, withoutNamedSecrets } from "./named-secrets.ts";

/**
 * What a terminal or a viewer of logs would act on, among it the escape of ANSI sequences.
 * Line feeds and tabs stay: JSON writes them as `\n` and `\t`, and halves of surrogate pairs
 * as their escapes.
 */
const CLASS = `[[${UNPRINTABLE}${INVISIBLE}]--[\\t\\n]]`;
const UNSAFE = new RegExp(CLASS, "v");
const ALL_UNSAFE = new RegExp(CLASS, "gv");

/** The text with what a viewer would act on written out, such as `\u001b`. */
export function cleanText(text: string): string {
  return UNSAFE.test(text) ? text.replace(ALL_UNSAFE, writtenOut) : text;
}

/** The text on one line, without what a viewer would act on, and no longer than a number of characters. */
export function cleanLine(text: string, maxLength: number): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return cleanText(short).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** Longer texts are cut: a log line is not a place for them. */
const MAX_LENGTH = 16 * 1024;

/** Without one of these no pattern below matches; most texts end here. */
const SUSPICIOUS =
  /pass|pwd|pw\b|secret|token|key|auth|cookie|credential|jwt|code|state|sess|sid|sig|saml|identified|bearer|basic|assertion|eyJ|:\/\/[^\s]{0,1300}@|%[0-9a-f]{2}|\\u00[3-7]/i;

const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}-----|$)/g;
const JSON_WEB_TOKEN = /\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)*/g;
const SCHEME = /\b(bearer|basic)\s+(?=\S*[0-9=])[\w.~+/=-]{6,}/gi;
const USER_INFO = /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@]{0,256}):[^\s/?#]{0,1024}@/gi;
/** The same where somebody forgot to encode the password, so that it is not a URL; what begins as a port is none. */
const RAW_USER_INFO =
  /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@[]{0,256}):(?!\d{1,5}[/?#]|\*\*\*@)[^\s"'<>]{1,1024}@/gi;
/** A token in the place of the user, as Git has it. */
const USER_TOKEN = /([a-z][a-z0-9+.-]{0,30}:\/\/)(?=[^\s/?#:@]{0,256}\d)[^\s/?#:@]{16,256}@/gi;
/** The cookies of a request are pairs themselves, so all of the line goes. */
const COOKIES = /((?:set-)?cookie["']?\s{0,8}[=:]\s{0,8}["']?)[^\r\n"']+/gi;
/**
 * A text without the secrets that can be recognized in it: values of secret keys in
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
    .replace(RAW_USER_INFO, `$1:${REDACTED}@`)
    .replace(USER_TOKEN, `$1${REDACTED}@`)
    .replace(COOKIES, `$1${REDACTED}`);
  return withoutNamedSecrets(unnamed).replace(SCHEME, `$1 ${REDACTED}`);
}
