/** The maximum length of a generated line; only source comments, single names and single strings may be longer. */
export const COLUMNS = 100;

/**
 * Breaks long declarations in generated source as a formatter would: at the first list of names,
 * parameters or type arguments, at the types of a union, else after the `=`. A one-line comment
 * above a top-level declaration gets a line for each sentence. Other comments, which come from the
 * source, and the lines of tables stay unchanged.
 */
export function withinColumns(source: string): string {
  return source
    .split("\n")
    .map((line) =>
      line.length <= COLUMNS ? line : COMMENT.test(line) ? sentences(line) : broken(line),
    )
    .join("\n");
}

const COMMENT = /^\s*(?:\*|\/[*/])/;
const CLOSING: Readonly<Record<string, string>> = { "{": "}", "(": ")", "<": ">" };

function sentences(comment: string): string {
  const text = /^\/\*\* (.*) \*\/$/.exec(comment)?.[1];
  if (text === undefined) return comment;
  return `/**\n${text.replace(/^|(?<=\.) (?=[A-Z])/g, (between) => (between === "" ? " * " : "\n * "))}\n */`;
}

function broken(line: string): string {
  const start = line.search(/[{(<"]/);
  if (start < 0) {
    return line
      .replace(/^(export type \S+ =) (.*\|.*)$/, brokenUnion)
      .replace(/^(export const .* =) (?=\w+;$)/, "$1\n  ");
  }
  const open = line[start] as string;
  const end = open === '"' ? -1 : closingOf(line, start);
  if (end < 0) return line.replace(/^(export const [^=]*) = (?=")/, "$1 =\n  ");
  const indent = /^ */.exec(line)?.[0] ?? "";
  const items = itemsOf(line.slice(start + 1, end)).map((item) => itemLines(item, `${indent}  `));
  const last = open === "<" ? "\n" : ",\n";
  return `${line.slice(0, start + 1)}\n${items.join(",\n")}${last}${indent}${line.slice(end)}`;
}

function brokenUnion(_: string, head: string, types: string): string {
  return `${head}\n  | ${types.replaceAll(" | ", "\n  | ")}`;
}

/** The index of the bracket that closes the one at `start`; -1 if it is on another line. */
function closingOf(line: string, start: number): number {
  const open = line[start] as string;
  let depth = 0;
  for (let index = start; index < line.length; index++) {
    if (line[index] === open) depth++;
    else if (line[index] === CLOSING[open] && --depth === 0) return index;
  }
  return -1;
}

/** The items of a list, which may contain nested lists. */
function itemsOf(list: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= list.length; index++) {
    const character = list[index] ?? ",";
    if ("{(<".includes(character)) depth++;
    else if ("})>".includes(character)) depth--;
    else if (character === "," && depth === 0) {
      items.push(list.slice(start, index).trim());
      start = index + 1;
    }
  }
  return items.filter((item) => item !== "");
}

function itemLines(item: string, indent: string): string {
  if (indent.length + item.length < COLUMNS) return `${indent}${item}`;
  // A union has a line for each type.
  return item
    .split(" | ")
    .map((type, _, { length }) => (length === 1 ? `${indent}${type}` : `${indent}| ${type}`))
    .join("\n");
}
