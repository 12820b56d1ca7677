/** The replacement of a secret. */
export const REDACTED = "***";

/** The words in a key that mark its value as a secret; lower case, without separators. */
const SECRET_WORDS = [
  "password",
  "passwd",
  "passphrase",
  "secret",
  "token",
  "accesskey",
  "secretkey",
  "privatekey",
  "apikey",
  "signingkey",
  "authorization",
  "cookie",
  "credential",
] as const;

const SECRET = new RegExp(SECRET_WORDS.join("|"));
/** Short names that are a secret only as the whole key, or at its end. */
const SHORT = /^(?:pass|pwd|pw|auth)$|jwt$/;
/** Names of data about a secret that are not secret themselves. */
const ABOUT = /(?:type|endpoint|ttl|count|length|expires|expiresin|expiresat|expiry)$/;

/**
 * Keys repeat: the result for each is cached, up to a limit, since an attacker may send many keys.
 */
const known = new Map<string, boolean>();
const MAX_KNOWN = 2000;
const MAX_KEY = 256;

/**
 * Whether the value of a key is a secret, regardless of letter case and separators: `accessKey`,
 * `client-secret`, `REFRESH_TOKEN`, `set-cookie`.
 */
export function isSecretKey(key: string): boolean {
  const before = known.get(key);
  if (before !== undefined) return before;
  const plain = key
    .slice(0, MAX_KEY)
    .replace(/[^A-Za-z0-9]/g, "")
    .toLowerCase();
  const found = (SECRET.test(plain) && !ABOUT.test(plain)) || SHORT.test(plain);
  if (known.size < MAX_KNOWN && key.length <= MAX_KEY) known.set(key, found);
  return found;
}

/** A name and the `=`, `:` or `=>` after it: of queries, of headers, of JSON that cannot be parsed, also escaped. */
const NAME = /([A-Za-z0-9_.%-]{1,96})\\{0,8}["'`]?\]{0,2}\s{0,8}(?:=>|[=:])\s{0,8}/g;
/** The value after a name. */
const VALUE =
  /(?:(?:bearer|basic|digest)\s+)?(?:(\\+")[^"]*"|(")(?:[^"\\]|\\.)*"?|(')[^']*'?|[^\s&;,"'{}[\]\\]+)/iy;
/** Schemes of this header differ in the place of their secret, so without quotes all of the line is the value. */
const AUTHORIZATION = /authorization$/i;
const REST_OF_LINE = /[^\r\n]+/y;
/** The same in a text that is part of a URL: `%3D` stands for `=`, and `%253D` in one that is part of another. */
const ENCODED_NAME = /([A-Za-z0-9_.-]{1,96})%(?:25){0,4}3[ad]/gi;
const ENCODED_VALUE = /(?:(?!%(?:25){0,4}26)[^\s&;"'<>])+/y;
const ENCODED_QUERY = /^(?:25){0,4}(?:3f|26|23)/i;
/** Secret in the query of a login, though no key elsewhere. */
const QUERY_SECRET =
  /^(?:code|state|codeverifier|assertion|clientassertion|sig|signature|session|sessionid|sid|samlresponse)$/i;
const ELEMENT = /<([A-Za-z0-9_.:-]{1,96})>[^<]{1,2048}(?=<)/g;
const FLAG = /(^|\s)(--?[A-Za-z][A-Za-z0-9-]{0,60})\s{1,8}(?!-)\S{1,2048}/g;
const SQL = /\b(password|identified\s{1,8}by)(\s{1,8})(["'])(?:[^"'\\]|\\.){0,2048}\3/gi;
/** Letters that JSON writes as escapes, such as `\u0070assword`. */
const ESCAPED = /\\u00([3-7][0-9a-f])/gi;

/** A text without the values of secret names, in every notation. */
export function withoutNamedSecrets(text: string): string {
  const pairs = withoutValues(text.replace(ESCAPED, plainLetter), NAME, isSecretName, valueAt);
  return withoutValues(pairs, ENCODED_NAME, isEncodedSecret, encodedValueAt)
    .replace(ELEMENT, (element, name: string) =>
      isSecretKey(name) ? `<${name}>${REDACTED}` : element,
    )
    .replace(FLAG, (flag, before: string, name: string) =>
      isSecretKey(name) ? `${before}${name} ${REDACTED}` : flag,
    )
    .replace(SQL, `$1$2$3${REDACTED}$3`);
}

/** Where a value ends, and the quote around it. */
interface Value {
  readonly end: number;
  readonly quote: string;
}

/** Searches from name to name, so that the value of one may contain the name of another. */
function withoutValues(
  text: string,
  names: RegExp,
  isSecret: (name: string, before: string | undefined) => boolean,
  valueOf: (text: string, start: number, name: string) => Value | undefined,
): string {
  let redacted = "";
  let from = 0;
  names.lastIndex = 0;
  for (let match = names.exec(text); match !== null; match = names.exec(text)) {
    const [{ length }, name = ""] = match;
    if (!isSecret(name, text[match.index - 1])) continue;
    const start = match.index + length;
    const value = valueOf(text, start, name);
    if (value === undefined) continue;
    // Quotes are kept, so that JSON still looks like JSON.
    redacted += `${text.slice(from, start)}${value.quote}${REDACTED}${value.quote}`;
    from = value.end;
    names.lastIndex = from;
  }
  return redacted + text.slice(from);
}

function valueAt(text: string, start: number, name: string): Value | undefined {
  VALUE.lastIndex = start;
  const value = VALUE.exec(text);
  if (value === null) return undefined;
  const quote = value[1] ?? value[2] ?? value[3] ?? "";
  const isLine = quote === "" && AUTHORIZATION.test(name);
  return { end: isLine ? endOf(REST_OF_LINE, text, start) : VALUE.lastIndex, quote };
}

function encodedValueAt(text: string, start: number): Value | undefined {
  const end = endOf(ENCODED_VALUE, text, start);
  return end === start ? undefined : { end, quote: "" };
}

/** The end of the match of a sticky pattern at an index; the index itself if there is none. */
function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

function isSecretName(text: string, before: string | undefined): boolean {
  const name = text.includes("%") ? decoded(text) : text;
  return isSecretKey(name) || ((before === "?" || before === "&") && isQuerySecret(name));
}

/** The name may still have a prefix, such as the `3F` of a question mark. */
function isEncodedSecret(text: string): boolean {
  const name = text.replace(ENCODED_QUERY, "");
  return isSecretKey(name) || (name !== text && isQuerySecret(name));
}

function isQuerySecret(name: string): boolean {
  return QUERY_SECRET.test(name.replaceAll(/[_-]/g, ""));
}

/** How often a name may be encoded. */
const MAX_ENCODINGS = 3;

function decoded(key: string): string {
  let name = key;
  try {
    for (let count = 0; count < MAX_ENCODINGS && name.includes("%"); count++) {
      name = decodeURIComponent(name);
    }
  } catch {
    // A text that cannot be decoded further is final.
  }
  return name;
}

function plainLetter(escape: string, hex: string): string {
  const letter = String.fromCharCode(Number.parseInt(hex, 16));
  return /\w/.test(letter) ? letter : escape;
}
