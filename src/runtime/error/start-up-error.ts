import { printable } from "../../common/printable.ts";

/** Why a server does not start: everything that is wrong, a line each (docs/requirements.md, EXP-6). */
export class StartUpError extends Error {
  override readonly name = "StartUpError";
  /** What is wrong and how to fix it, a line each; without secrets. */
  readonly problems: readonly string[];

  /** @param problems what is wrong and how to fix it, a line each; printed, so without secrets */
  constructor(problems: readonly string[], options?: ErrorOptions) {
    const count = problems.length === 1 ? "" : `${problems.length} problems:\n`;
    super(`the server does not start: ${count}${problems.map(printable).join("\n")}`, options);
    this.problems = problems;
  }
}
