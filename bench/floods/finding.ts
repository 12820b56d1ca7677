/** One measure of a flood, and what it may be at most. */
export interface Finding {
  readonly what: string;
  readonly measured: number;
  readonly most: number;
  /** Such as `MiB`. */
  readonly unit: string;
}

/** A flood, made so many times as large as the one that was found. */
export type Flood = (times: number) => Promise<readonly Finding[]>;

/** As it is printed, with a word on whether it is kept. */
export function describeFinding({ what, measured, most, unit }: Finding): string {
  const digits = measured < 10 ? 2 : 0;
  const verdict = isKept(measured, most) ? "ok" : "TOO MUCH";
  return `${what} ${measured.toFixed(digits)} ${unit} (at most ${most}) ${verdict}`;
}

/** Whether a measure is within its bound; what could not be measured is not. */
export function isKept(measured: number, most: number): boolean {
  return measured <= most;
}
