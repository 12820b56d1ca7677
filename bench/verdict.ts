/** Prints how a ratio compares with its limit; the exit code says whether all were kept. */
export function atMost(what: string, value: number, limit: number): void {
  print(what, value, `at most ${limit}`, value <= limit);
}

/** The same where more is better. */
export function atLeast(what: string, value: number, limit: number): void {
  print(what, value, `at least ${limit}`, value >= limit);
}

/** Prints a figure that has no limit. */
export function note(what: string): void {
  process.stdout.write(`  ${what}\n`);
}

/** The middle one of some figures. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function print(what: string, value: number, limit: string, isKept: boolean): void {
  if (!isKept) process.exitCode = 1;
  const verdict = isKept ? "holds" : "DOES NOT HOLD";
  process.stdout.write(
    `  ${what.padEnd(48)} ${value.toFixed(3).padStart(9)}    ${limit}  ${verdict}\n`,
  );
}
