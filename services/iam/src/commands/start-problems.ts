import { loadModel, StartUpError } from "svc-access/runtime";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import { unknownTypes } from "../config/unknown-types.ts";
import { readPageDesign } from "../pages/read-page-design.ts";
import { EncryptionKeyError } from "../secrets/encryption-keys.ts";
import { readEncryptionKeys } from "../secrets/read-encryption-keys.ts";

/**
 * Why a start by a valid configuration would be refused before it asks a store: a line for each problem
 * with the files that the configuration names.
 */
export function startProblems({ config, sections: { iam } }: LoadedIamConfig): readonly string[] {
  const { encryption_key_file: file, pages, services } = iam;
  const { environment } = config;
  return [
    ...problemsOf(() => {
      // Whether a key may be absent is a check of the configuration.
      if (file !== undefined) readEncryptionKeys({ file, environment });
      return [];
    }),
    ...problemsOf(() => {
      readPageDesign(pages);
      return [];
    }),
    ...problemsOf(() => {
      const model = loadModel(config);
      if (model === undefined) {
        return ["security.authz.model is missing: name the file of the model"];
      }
      return [...unknownTypes(services, model)];
    }),
  ];
}

/** What a step of a start finds, or is refused for. */
function problemsOf(step: () => readonly string[]): readonly string[] {
  try {
    return step();
  } catch (error) {
    if (error instanceof StartUpError) return error.problems;
    if (error instanceof EncryptionKeyError) return [error.message];
    throw error;
  }
}
