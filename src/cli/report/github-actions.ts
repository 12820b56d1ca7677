import { printable } from "../../common/printable.ts";
import type { Findings } from "./findings.ts";

/** A workflow command a finding, which GitHub Actions shows beside the line. */
export function githubActionsReport({ diagnostics }: Findings): string {
  return diagnostics
    .map(({ file, line, column, rule, severity, message }) => {
      const place = line === undefined ? "" : `,line=${line},col=${column ?? 1}`;
      return `::${severity} file=${property(file)}${place},title=${property(rule)}::${data(`${message} (${rule})`)}\n`;
    })
    .join("");
}

function data(text: string): string {
  return printable(text).replaceAll("%", "%25");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
