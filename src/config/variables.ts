/** The environment that `${VAR}` reads. */
export type Variables = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\$|\$\{([^}]*)\}|\$\{/g;
const NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{).)*))?$/s;

/** A part of a text that comes from a non-empty default. */
export interface DefaultedPart {
  /** The variable with that default. */
  readonly variable: string;
  /** Its start in the text after the replacement of variables. */
  readonly start: number;
  readonly end: number;
}

/** A text after the replacement of variables. */
export interface Substituted {
  readonly text: string;
  /** The parts that come from defaults, in order. */
  readonly defaulted: readonly DefaultedPart[];
  /** The first variable of a text that is empty because all its variables are. */
  readonly emptiedBy?: string | undefined;
  readonly error?: undefined;
}

/**
 * Replaces `${VAR}` and `${VAR:-default}`; `$$` is one dollar sign.
 *
 * @returns the text, or an error of one line if a variable is not set or a
 * reference is malformed.
 */
export function substituteVariables(
  text: string,
  variables: Variables,
): Substituted | { text?: undefined; error: string } {
  let error: string | undefined;
  const defaulted: DefaultedPart[] = [];
  let first: string | undefined;
  const valueOf = (reference: string, inner: string | undefined, start: number): string => {
    if (reference === "$$") return "$";
    const [, name, fallback] = NAME.exec(inner ?? "") ?? [];
    if (name === undefined) {
      error ??= `"${reference}" is not a reference; write \${NAME} or \${NAME:-default}, and $$ for a dollar sign`;
      return "";
    }
    first ??= name;
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    // As in a shell, `:-` also replaces an empty value.
    if (fallback !== undefined) {
      if (value) return value;
      if (fallback !== "") {
        defaulted.push({ variable: name, start, end: start + fallback.length });
      }
      return fallback;
    }
    if (value === undefined) {
      error ??= `the variable ${name} is not set; set it, or write \${${name}:-default}`;
      return "";
    }
    return value;
  };
  // How much longer the text before the reference has become.
  let grown = 0;
  const replaced = text.replace(
    REFERENCE,
    (reference, inner: string | undefined, offset: number) => {
      const value = valueOf(reference, inner, offset + grown);
      grown += value.length - reference.length;
      return value;
    },
  );
  if (error !== undefined) return { error };
  return { text: replaced, defaulted, emptiedBy: replaced === "" ? first : undefined };
}
