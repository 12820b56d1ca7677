import { printable } from "../../common/printable.ts";

/** Why a server does not start: everything that is wrong, a line each. */
export class StartUpError extends Error {
  override readonly name = "StartUpError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    const count = problems.length === 1 ? "" : `${problems.length} problems:\n`;
    super(`the server does not start: ${count}${problems.map(printable).join("\n")}`, options);
    this.problems = problems;
  }
}
