import { printableLines } from "../../common/printable.ts";
import type { ReportStyle } from "../report/findings.ts";

const CODES = { red: "\u001b[31m", green: "\u001b[32m", yellow: "\u001b[33m" } as const;
const RESET = "\u001b[0m";

/** A line, with what stands below it, made printable, in a colour, where the output shows colours. */
export function paint(
  line: string,
  color: keyof typeof CODES | undefined,
  { colors }: ReportStyle,
): string {
  const text = printableLines(line);
  return colors && color !== undefined ? `${CODES[color]}${text}${RESET}` : text;
}
