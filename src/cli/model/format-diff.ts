import { printableJson } from "../../common/printable.ts";
import { displayPath } from "../../compiler/platform.ts";
import type { Blocker, Effect, ModelChange } from "../../model/validation/diff-models.ts";
import { count, paint, type ReportStyle } from "../report/findings.ts";

/** The result of a comparison. */
export interface DiffReport {
  readonly oldPath: string;
  readonly newPath: string;
  /** The file of the stored relationships. */
  readonly relationships: string | undefined;
  readonly changes: readonly (ModelChange & { readonly mayBlock: boolean })[];
  /** Absent if no relationships were given. */
  readonly blockers: readonly Blocker[] | undefined;
}

/** A comparison as text or as one JSON document. */
export function formatDiff(report: DiffReport, format: string, style: ReportStyle): string {
  return format === "json"
    ? `${printableJson(documentOf(report))}\n`
    : `${linesOf(report, style).join("\n")}\n`;
}

function documentOf({ relationships, changes, blockers }: DiffReport) {
  return {
    changes: changes.map(({ position: { line, column }, ...change }) => {
      return { ...change, line, column };
    }),
    blocking: (blockers ?? []).map(({ relationship, reason }) => {
      const { text, position } = relationship;
      return { file: displayPath(relationships ?? ""), ...position, relationship: text, reason };
    }),
    blocked:
      blockers === undefined
        ? changes.some(({ mayBlock }) => mayBlock)
          ? null
          : false
        : blockers.length > 0,
  };
}

const MARKS = { added: "+", removed: "-", changed: "~", affected: "~" } as const;
const EFFECTS: Readonly<Record<Effect, string>> = {
  widens: "widens",
  narrows: "narrows",
  none: "allows the same",
  unclear: "may widen and narrow",
};

function linesOf(report: DiffReport, style: ReportStyle): string[] {
  const { oldPath, newPath, relationships, changes, blockers } = report;
  if (changes.length === 0 && !blockers?.length) return ["The models allow the same."];
  const lines = changes.map((change) => {
    const { kind, change: what, name, effect, position, mayBlock } = change;
    const file = displayPath(what === "removed" ? oldPath : newPath);
    const expressions =
      what === "changed"
        ? `: ${change.before} => ${change.after}`
        : what === "affected"
          ? ", through its references"
          : "";
    const block = mayBlock && blockers === undefined ? "; may block" : "";
    const line = `${MARKS[what]} ${kind} ${name}${expressions} (${EFFECTS[effect]}${block}) ${file}:${position.line}:${position.column}`;
    return paint(line, block === "" ? undefined : "yellow", style);
  });
  if (blockers === undefined) {
    const may = changes.filter(({ mayBlock }) => mayBlock).length;
    if (may > 0) {
      lines.push(
        `${count(may, "change")} may block: --relationships shows which stored relationships do`,
      );
    }
    return lines;
  }
  for (const { relationship, reason } of blockers) {
    const { position, text } = relationship;
    const place = `${displayPath(relationships ?? "")}:${position.line}:${position.column}`;
    lines.push(paint(`${place}: ${text} blocks the change: ${reason}`, "red", style));
  }
  lines.push(
    blockers.length === 0
      ? "No stored relationship blocks the change."
      : `${count(blockers.length, "stored relationship")} must be deleted first.`,
  );
  return lines;
}
