import { isSecretKey, REDACTED } from "./named-secrets.ts";
import { redactText } from "./redact-text.ts";

export { REDACTED };

/** The limits of one line. */
const MAX_DEPTH = 8;
const MAX_ITEMS = 100;
const MAX_NODES = 2000;

/**
 * A copy of a value for the log: plain data, without secrets, of bounded depth and size. Cycles,
 * errors, maps and other values that are not JSON are described in words.
 *
 * @example
 * ```ts
 * redact({ user: "alice", password: "secret" }); // {user: "alice", password: "***"}
 * ```
 */
export function redact(value: unknown): unknown {
  return new Redaction().value(value, 0);
}

/** One walk through a value. */
class Redaction {
  #nodes = 0;
  /** The objects on the way down, to find cycles. */
  readonly #above: object[] = [];

  value(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "string":
        return this.#text(value, depth);
      case "number":
        return Number.isFinite(value) ? value : String(value);
      case "bigint":
      case "symbol":
        return redactText(String(value));
      case "function":
        return "[function]";
      case "object":
        return value === null ? null : this.#object(value, depth);
      default:
        return value;
    }
  }

  /** JSON in a text is redacted by its keys, if it can be parsed. */
  #text(text: string, depth: number): string {
    const first = text.charCodeAt(0);
    const looksLikeJson = (first === 0x7b || first === 0x5b) && text.length <= 16 * 1024;
    if (looksLikeJson && depth < MAX_DEPTH) {
      try {
        return redactText(JSON.stringify(this.value(JSON.parse(text), depth + 1)));
      } catch {
        // Not JSON: the patterns for texts are used.
      }
    }
    return redactText(text);
  }

  #object(value: object, depth: number): unknown {
    if (this.#above.includes(value)) return "[circular]";
    if (depth >= MAX_DEPTH || this.#nodes >= MAX_NODES) return "[too deep or too large]";
    this.#nodes++;
    this.#above.push(value);
    try {
      return this.#parts(value, depth + 1);
    } catch (error) {
      // A getter or a proxy may throw; logging must not.
      return `[unreadable: ${redactText(String((error as Error)?.name))}]`;
    } finally {
      this.#above.pop();
    }
  }

  #parts(value: object, depth: number): unknown {
    if (Array.isArray(value)) return this.#items(value, depth);
    if (value instanceof Error) return this.#error(value, depth);
    if (value instanceof Map) return this.#fields(value, depth);
    if (value instanceof Set) return this.#items([...value], depth);
    if (value instanceof Date)
      return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toJSON();
    if (value instanceof URL) return redactText(value.href);
    if (value instanceof URLSearchParams) return redactText(`?${value}`).slice(1);
    if (value instanceof RegExp) return redactText(String(value));
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
      return `[${value.byteLength} bytes]`;
    if (isHeaders(value)) return this.#fields(value.entries(), depth);
    return this.#fields(withoutMembers(Object.entries(value)), depth);
  }

  #items(items: readonly unknown[], depth: number): unknown[] {
    const kept = items.slice(0, MAX_ITEMS);
    const copy = kept.map((item, index) => {
      // Raw headers of Node: a name, then its value.
      const name = index % 2 === 1 ? kept[index - 1] : undefined;
      const isSecret =
        typeof item === "string" &&
        ((typeof name === "string" && isHeaderName(name)) || isFlag(kept[index - 1]));
      return isSecret ? REDACTED : this.value(item, depth);
    });
    if (items.length > MAX_ITEMS) copy.push(`[${items.length - MAX_ITEMS} more]`);
    return copy;
  }

  #fields(entries: Iterable<readonly [unknown, unknown]>, depth: number): object {
    const copy: Record<string, unknown> = {};
    let count = 0;
    for (const [key, item] of entries) {
      if (++count > MAX_ITEMS) {
        copy["…"] = "[more]";
        break;
      }
      this.#field(
        copy,
        typeof key === "string" ? key : String(this.value(key, MAX_DEPTH)),
        item,
        depth,
      );
    }
    return copy;
  }

  #field(copy: Record<string, unknown>, key: string, item: unknown, depth: number): void {
    if (item === undefined) return;
    const name = key === "__proto__" ? "[__proto__]" : redactText(key);
    const isEmpty = item === null || item === "" || typeof item === "boolean";
    copy[name] = isSecretKey(key) && !isEmpty ? REDACTED : this.value(item, depth);
  }

  #error(error: Error, depth: number): object {
    const copy: Record<string, unknown> = {
      type: redactText(String(error.name)),
      message: redactText(String(error.message)),
    };
    if (typeof error.stack === "string") copy["stack"] = redactText(error.stack);
    for (const key of Object.keys(error).slice(0, MAX_ITEMS)) {
      if (key in copy || key === "name") continue;
      this.#field(copy, key, (error as unknown as Record<string, unknown>)[key], depth);
    }
    if (error.cause !== undefined) copy["cause"] = this.value(error.cause, depth);
    if (error instanceof AggregateError) copy["errors"] = this.value(error.errors, depth);
    return copy;
  }
}

/** The private members of a JSON Web Key, whose names do not show that. */
const KEY_MEMBERS: ReadonlySet<string> = new Set(["d", "p", "q", "dp", "dq", "qi", "oth", "k"]);

/** The members of an object, without the secrets that are only recognisable from other members. */
function withoutMembers(entries: readonly [string, unknown][]): readonly [string, unknown][] {
  const member = (name: string) => entries.find(([key]) => key === name)?.[1];
  const isKey = typeof member("kty") === "string";
  const isPair = [member("name"), member("key")].some(
    (name) => typeof name === "string" && isSecretKey(name),
  );
  if (!isKey && !isPair) return entries;
  return entries.map(([key, item]) => {
    const isSecret = (isKey && KEY_MEMBERS.has(key)) || (isPair && /^values?$/i.test(key));
    return [key, isSecret ? REDACTED : item];
  });
}

/** Reading the class before an instance exists would make Node load all of `fetch`. */
function isHeaders(value: object): value is Headers {
  const isNamedSo = Object.prototype.toString.call(value) === "[object Headers]";
  return isNamedSo && value instanceof Headers;
}

/** Whether a text is an option of a command line, whose value comes next. */
function isFlag(text: unknown): boolean {
  return (
    typeof text === "string" && /^--?[A-Za-z][A-Za-z0-9-]{0,60}$/.test(text) && isSecretKey(text)
  );
}

const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]*$/;

/** Whether a text in a list is the name of a secret header, whose value comes next. */
function isHeaderName(text: string): boolean {
  return text.length <= 64 && HEADER_NAME.test(text) && isSecretKey(text);
}
