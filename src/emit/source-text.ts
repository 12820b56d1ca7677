/** A data value that becomes a frozen literal. */
type Value = string | number | boolean | readonly unknown[] | object;

/**
 * Plain data as a TypeScript literal, each object and array frozen.
 *
 * @param depth - how far the literal is indented
 */
export function literal(value: Value, depth: number): string {
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = "  ".repeat(depth + 1);
  const outer = "  ".repeat(depth);
  if (Array.isArray(value)) {
    if (value.length === 0) return "Object.freeze([] as const)";
    const items = value.map((item) => `${inner}${literal(item, depth + 1)},\n`).join("");
    return `Object.freeze([\n${items}${outer}] as const)`;
  }
  const entries = Object.entries(value)
    .map(([key, item]) => `${inner}${propertyKey(key)}: ${literal(item, depth + 1)},\n`)
    .join("");
  return `Object.freeze({\n${entries}${outer}} as const)`;
}

/** A name as an object literal has it; `__proto__` in brackets, since it would set the prototype. */
export function propertyKey(name: string): string {
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : JSON.stringify(name);
}

/** The name, made unique with a `$`, which no protobuf identifier holds. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  while (taken.has(unique)) unique += "$";
  taken.add(unique);
  return unique;
}
