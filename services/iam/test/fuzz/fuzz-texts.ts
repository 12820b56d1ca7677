import type { Random } from "../support/random.ts";

/** Nothing may show it unescaped. */
export const MARKUP = '"><x9q onload=alert(1)>';

/** A request, before it is encoded. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export const PIECES = [
  MARKUP,
  "//evil.example.net",
  "https://evil.example.net/",
  "\\evil.example.net",
  "javascript:alert(1)",
  "%00",
  "%0d%0aLocation:%20https://evil.example.net",
  "\r\nX-Evil: 1",
  "..%2f",
  "../",
  "__proto__",
  "constructor",
  "' or 1=1 --",
  "\u0000",
  "\u{1f511}",
  "\ud800",
  "a".repeat(3000),
  "",
  " ",
  "[]",
  "{}",
  "null",
  "-1",
  "1e308",
  "%",
  "&",
  "=",
  "#",
  ";",
] as const;

export const METHODS = [
  "GET",
  "GET",
  "GET",
  "POST",
  "POST",
  "POST",
  "HEAD",
  "OPTIONS",
  "PUT",
  "DELETE",
];
export const TYPES = [
  "application/x-www-form-urlencoded",
  "application/x-www-form-urlencoded",
  "application/x-www-form-urlencoded; charset=utf-16",
  "application/json",
  "multipart/form-data; boundary=x",
  "text/plain",
  "",
];

/** Parameters of a query or a form, most of them as they are. */
export function encoded(random: Random, parameters: readonly [string, string][]): string {
  const parts = parameters.flatMap(([name, value]) => {
    if (random.chance(5)) return [];
    const part = `${escaped(mutated(random, 3, name))}=${escaped(mutated(random, 10, value))}`;
    return random.chance(4) ? [part, part] : [part];
  });
  return mutated(random, 4, parts.join("&"));
}

/** A text that is changed at one place, so often in a hundred. */
export function mutated(random: Random, percent: number, text: string): string {
  if (!random.chance(percent)) return text;
  const at = random.below(text.length + 1);
  const to = Math.min(text.length, at + random.below(6));
  return text.slice(0, at) + random.pick(PIECES) + text.slice(random.chance(50) ? at : to);
}

/** Sometimes not as it should be: a lone surrogate cannot be escaped. */
function escaped(text: string): string {
  return text.replace(/[^\w.~-]/gu, (character) =>
    /[\ud800-\udfff]/u.test(character) ? "%ED%A0%80" : encodeURIComponent(character),
  );
}
