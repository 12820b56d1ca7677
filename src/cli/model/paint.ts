import type { ReportStyle } from "../report/findings.ts";

const CODES = { red: "\u001b[31m", green: "\u001b[32m", yellow: "\u001b[33m" } as const;
const RESET = "\u001b[0m";

/** A line in a colour, where the output shows colours. */
export function paint(
  line: string,
  color: keyof typeof CODES | undefined,
  { colors }: ReportStyle,
): string {
  return colors && color !== undefined ? `${CODES[color]}${line}${RESET}` : line;
}
