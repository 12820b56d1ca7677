import { printable } from "../../common/printable.ts";

/** Why a server does not start: all problems, one line each (docs/requirements.md, EXP-6). */
export class StartUpError extends Error {
  override readonly name = "StartUpError";
  /** The problems and how to fix them, one line each; without secrets. */
  readonly problems: readonly string[];

  /**
   * @param problems the problems and how to fix them, one line each; they are printed, so without
   * secrets
   */
  constructor(problems: readonly string[], options?: ErrorOptions) {
    const count = problems.length === 1 ? "" : `${problems.length} problems:\n`;
    super(`the server does not start: ${count}${problems.map(printable).join("\n")}`, options);
    this.problems = problems;
  }
}
