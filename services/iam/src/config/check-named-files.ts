import { existsSync } from "node:fs";
import { loadModel, type ServiceConfig, StartUpError } from "svc-access/runtime";
import { EncryptionKeyError } from "../ground/secrets/encryption-keys.ts";
import { readEncryptionKeys } from "../ground/secrets/read-encryption-keys.ts";
import { readPageDesign } from "../pages/read-page-design.ts";
import { at, type ConfigProblem } from "./config-problem.ts";
import type { IamConfig } from "./iam-config.ts";
import { unknownTypes } from "./services-config.ts";

/**
 * Yields why a start would be refused before it asks a store: the problems of the encryption key, the
 * logo and the model, each at the key that names the file.
 */
export function* checkNamedFiles(
  config: ServiceConfig,
  { iam }: { readonly iam: IamConfig },
): Iterable<ConfigProblem> {
  const { encryption_key_file: file, pages, services } = iam;
  const { environment } = config;
  yield* problemsOf(["iam", "encryption_key_file"], () => {
    // Whether a key may be absent is a check of the configuration.
    if (file !== undefined) readEncryptionKeys({ file, environment });
    return [];
  });
  yield* problemsOf(["iam", "pages", "logo_file"], () => {
    readPageDesign(pages);
    return [];
  });
  const path = ["security", "authz", "model"] as const;
  const { model } = config.security.authz;
  if (model === undefined) {
    yield at(path, "is missing: name the file of the model");
    return;
  }
  // One that does not exist is a problem that is found with every service.
  if (!existsSync(model)) return;
  yield* problemsOf(path, () => {
    const read = loadModel(config);
    return read === undefined ? [] : [...unknownTypes(services, read)];
  });
}

/** What reading a file finds, or is refused for. */
function problemsOf(
  path: ConfigProblem["path"],
  read: () => readonly ConfigProblem[],
): readonly ConfigProblem[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof EncryptionKeyError) return [{ path, message: error.message }];
    if (error instanceof StartUpError) {
      return error.problems.map((message) => ({ path, message: withKey(path, message) }));
    }
    throw error;
  }
}

/** Problems within a model begin with their place in it. */
function withKey(path: ConfigProblem["path"], message: string): string {
  const key = path.join(".");
  return message.startsWith(key) ? message : `${key}: ${message}`;
}
