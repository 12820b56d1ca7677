/**
 * Says what test runs found, last in the output of `.ci/run`: every failed test by name with its message, then the totals.
 * Exit code 1 if a test or a file failed, or if a report has no passed test.
 *
 * Usage: node scripts/report-tests.ts REPORT.json…, where each report is what vitest's `json` reporter wrote.
 */
import { readFileSync } from "node:fs";

interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

// Enough for an assertion with its difference and the place in the test.
const MESSAGE_LINES = 40;
const COLOUR = /\u001b\[[0-9;]*m/g;

function firstLines(message: string): string {
  return message
    .replace(COLOUR, "")
    .split("\n")
    .slice(0, MESSAGE_LINES)
    .map((line) => `    ${line}`)
    .join("\n");
}

for (const path of process.argv.slice(2)) {
  const { success, numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
    readFileSync(path, "utf8"),
  ) as Report;
  for (const file of testResults) {
    const failed = file.assertionResults.filter(({ status }) => status === "failed");
    for (const { fullName, failureMessages } of failed)
      console.log(
        `FAILED ${file.name} > ${fullName}\n${firstLines((failureMessages ?? []).join("\n"))}`,
      );
    if (file.status === "failed" && failed.length === 0)
      console.log(`FAILED ${file.name}\n${firstLines(file.message)}`);
  }
  console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
  if (!success || numPassedTests === 0) process.exitCode = 1;
}
