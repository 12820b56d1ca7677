import type { FileOutline } from "../../descriptors/file-outline.ts";
import { declaredExtensions } from "./find-definition.ts";
import { HTTP_OPTION, METHOD_OPTIONS } from "./genuine-options.ts";
import { type DefinitionProblem, verifyAnnotation } from "./verify-annotation.ts";
import { verifyOption } from "./verify-option.ts";

/** The problems of the definitions that the options of a file were compiled with. */
export interface InputProblems {
  /** Of the annotation. */
  readonly policy?: DefinitionProblem | undefined;
  /** Of `google.api.http`. */
  readonly http?: DefinitionProblem | undefined;
  /** Of `google.protobuf.MethodOptions`. */
  readonly options?: DefinitionProblem | undefined;
}

/**
 * Verifies the definitions in each input, with which the options of that input were compiled.
 *
 * @returns the problems, by the name of each file with services
 */
export function verifyDefinitions(
  inputs: readonly (readonly FileOutline[])[],
): ReadonlyMap<string, InputProblems> {
  const problems = new Map<string, InputProblems>();
  for (const files of inputs) {
    const targets = files.filter(({ target, services }) => target && services.length > 0);
    if (targets.length === 0) continue;
    const extensions = declaredExtensions(files);
    const policy = verifyAnnotation(files, extensions);
    const http = verifyOption(HTTP_OPTION, files, extensions);
    const options = verifyOption(METHOD_OPTIONS, files, extensions);
    if (policy === undefined && http === undefined && options === undefined) continue;
    for (const { name } of targets) {
      // A file that is in two inputs gets the problems of both.
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
