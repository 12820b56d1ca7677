import type { FileOutline } from "../../descriptors/file-outline.ts";
import { declaredExtensions } from "./find-definition.ts";
import { HTTP_OPTION, METHOD_OPTIONS } from "./genuine-options.ts";
import { type DefinitionProblem, judgeDefinition } from "./judge-definition.ts";
import { judgeOption } from "./judge-option.ts";

/** What is wrong with the definitions that the options of a file were written by. */
export interface InputProblems {
  /** Of the annotation. */
  readonly policy?: DefinitionProblem | undefined;
  /** Of `google.api.http`. */
  readonly http?: DefinitionProblem | undefined;
  /** Of `google.protobuf.MethodOptions`. */
  readonly options?: DefinitionProblem | undefined;
}

/**
 * Judges the definitions that each input brings, by which its own options were written.
 *
 * @returns what is wrong, by the name of each file with services
 */
export function judgeInputs(
  inputs: readonly (readonly FileOutline[])[],
): ReadonlyMap<string, InputProblems> {
  const problems = new Map<string, InputProblems>();
  for (const files of inputs) {
    const targets = files.filter(({ target, services }) => target && services.length > 0);
    if (targets.length === 0) continue;
    const extensions = declaredExtensions(files);
    const policy = judgeDefinition(files, extensions);
    const http = judgeOption(HTTP_OPTION, files, extensions);
    const options = judgeOption(METHOD_OPTIONS, files, extensions);
    if (policy === undefined && http === undefined && options === undefined) continue;
    for (const { name } of targets) {
      // The same file of two inputs is judged by whatever is wrong in either.
      const known = problems.get(name);
      problems.set(name, {
        policy: policy ?? known?.policy,
        http: http ?? known?.http,
        options: options ?? known?.options,
      });
    }
  }
  return problems;
}
