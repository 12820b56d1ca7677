import { basename } from "node:path";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { MergeConflict } from "../../model/merge-models.ts";
import { copyFrom, type ModelText } from "./copy-definitions.ts";

/** The file of the package with the model of IAM. */
const IAM = "iam.zed";

/** A conflict between two models as a finding. */
export function describeConflict(
  conflict: MergeConflict,
  models: readonly ModelText[],
): Diagnostic {
  const { what, name } = conflict;
  // svc-iam needs its own definitions, so the model of the service has to change.
  const isIam = basename(conflict.file) === IAM && basename(conflict.otherFile) !== IAM;
  const { file, position, otherFile, otherPosition } = isIam ? swapped(conflict) : conflict;
  const other = `${otherFile}:${otherPosition.line}:${otherPosition.column}`;
  const iam = basename(otherFile) === IAM ? named(models, otherFile) : undefined;
  const how =
    iam?.model.definitions.has(name) === true
      ? copyOfIam(copyFrom(iam, named(models, file), [name]).command)
      : "make both equal, or rename one of them";
  return {
    rule: "MODEL_MERGE_CONFLICT",
    severity: "error",
    message: `${what}; the other is at ${other}; ${how}`,
    file,
    line: position.line,
    column: position.column,
  };
}

function copyOfIam(command: string | undefined): string {
  const copy = command === undefined ? "copy that of IAM" : `copy that of IAM: ${command}`;
  return `rename it if it means something else, or remove it and ${copy}`;
}

function swapped(conflict: MergeConflict): MergeConflict {
  const { file, position, otherFile, otherPosition } = conflict;
  return {
    ...conflict,
    file: otherFile,
    position: otherPosition,
    otherFile: file,
    otherPosition: position,
  };
}

function named(models: readonly ModelText[], name: string): ModelText {
  return models.find(({ file }) => file === name) as ModelText;
}
