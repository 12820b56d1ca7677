import { printable } from "../../common/printable.ts";

/** An error in a service's configuration, or a dangerous setting. */
export interface ServiceConfigProblem {
  /** The keys and indices that lead to it. */
  readonly path: readonly (string | number)[];
  /** The problem and how to fix it; never the value of a secret. */
  readonly message: string;
  /** A warning lets the service start; absent, an error. */
  readonly severity?: "error" | "warning";
}

/**
 * The configuration of a service is refused: all errors, one line each, without secrets.
 *
 * @example
 * ```ts
 * try {
 *   loadServiceConfig("service.yaml");
 * } catch (error) {
 *   if (error instanceof ConfigurationError) console.error(error.problems.join("\n"));
 * }
 * ```
 */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  /** The path of the configuration, as it was given. */
  readonly file: string;
  /** One line for each problem: `file:line:column key: what is wrong`. */
  readonly problems: readonly string[];

  /**
   * @param file the path of the configuration
   * @param problems a line each; printed as they are, so without secrets
   */
  constructor(file: string, problems: readonly string[], options?: ErrorOptions) {
    const lines = problems.map(printable);
    // One problem names the file itself, and is one line.
    super(
      lines.length === 1
        ? lines[0]
        : `the configuration ${printable(file)} has ${lines.length} problems:\n${lines.join("\n")}`,
      options,
    );
    this.file = file;
    this.problems = problems;
  }
}
