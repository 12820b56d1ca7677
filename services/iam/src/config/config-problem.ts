/** A problem at a key of the configuration. */
export interface ConfigProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** An error if absent. */
  readonly severity?: "warning";
}

/** A problem, whose message begins with the key. */
export function at(path: readonly (string | number)[], message: string): ConfigProblem {
  const written = path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("");
  return { path, message: `${written.slice(1)} ${message}` };
}
