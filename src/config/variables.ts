/** The environment that `${VAR}` reads. */
export type Variables = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\$|\$\{([^}]*)\}|\$\{/g;
const NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{).)*))?$/s;

/** A text with its variables in place. */
export interface Substituted {
  readonly text: string;
  /** A variable for which a default that is not empty stands in; absent where there is none. */
  readonly defaulted?: string;
  readonly error?: undefined;
}

/**
 * Replaces `${VAR}` and `${VAR:-default}`; `$$` is one dollar sign.
 *
 * @returns the text, or an error of one line where a variable is not set or a
 * reference is malformed.
 */
export function substituteVariables(
  text: string,
  variables: Variables,
): Substituted | { text?: undefined; error: string } {
  let error: string | undefined;
  let defaulted: string | undefined;
  const replaced = text.replace(REFERENCE, (reference, inner: string | undefined) => {
    if (reference === "$$") return "$";
    const [, name, fallback] = NAME.exec(inner ?? "") ?? [];
    if (name === undefined) {
      error ??= `"${reference}" is no reference; write \${NAME} or \${NAME:-default}, and $$ for a dollar sign`;
      return "";
    }
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    // As in a shell, `:-` also stands in for an empty value.
    if (fallback !== undefined) {
      if (value) return value;
      if (fallback !== "") defaulted ??= name;
      return fallback;
    }
    if (value === undefined) {
      error ??= `the variable ${name} is not set; set it, or write \${${name}:-default}`;
      return "";
    }
    return value;
  });
  if (error !== undefined) return { error };
  return defaulted === undefined ? { text: replaced } : { text: replaced, defaulted };
}
