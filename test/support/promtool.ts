/** promtool of Prometheus: `PROMTOOL`, which scripts/build-promtool.sh prints. */
const promtool = process.env["PROMTOOL"] ?? "";

/** The program to check rules with. */
export function findPromtool(): string {
  if (promtool === "") throw new Error("there is no promtool");
  return promtool;
}

/** Whether tests with promtool are skipped, with a warning; never in CI. */
export function promtoolIsAbsent(): boolean {
  if (promtool !== "") return false;
  const message = "there is no promtool: set PROMTOOL to the output of scripts/build-promtool.sh";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests with promtool: ${message}`);
  return true;
}
