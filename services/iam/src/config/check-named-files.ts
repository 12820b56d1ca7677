import { existsSync } from "node:fs";
import { loadModel, type ServiceConfig, StartUpError } from "svc-access/runtime";
import { EncryptionKeyError } from "../ground/secrets/encryption-keys.ts";
import { readEncryptionKeys } from "../ground/secrets/read-encryption-keys.ts";
import { readPageDesign } from "../pages/read-page-design.ts";
import { at, type ConfigProblem } from "./config-problem.ts";
import type { IamConfig } from "./iam-config.ts";
import { missingOfModel } from "./required-model.ts";
import { unknownTypes } from "./services-config.ts";

const MODEL = ["security", "authz", "model"] as const;
/** A model of something else lacks nearly everything. */
const MOST_NAMED = 6;

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
  const { model } = config.security.authz;
  // One that does not exist is a problem that is found with every service.
  if (model !== undefined && !existsSync(model)) return;
  yield* checkModelFile(config, { services });
}

/** Yields why the model cannot be that of svc-iam. */
export function* checkModelFile(
  config: ServiceConfig,
  { services }: Pick<IamConfig, "services">,
): Iterable<ConfigProblem> {
  const { model } = config.security.authz;
  if (model === undefined) {
    yield at(MODEL, "is missing: name the file of the model");
    return;
  }
  yield* problemsOf(MODEL, () => {
    const read = loadModel(config);
    if (read === undefined) return [];
    const missing = missingOfModel(read);
    // What the services may do with other types is of interest once this is the right model.
    if (missing.length === 0) return [...unknownTypes(services, read)];
    const what = missing.slice(0, MOST_NAMED).join(", ");
    const more = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : "";
    return [
      at(
        MODEL,
        `(${model}) lacks ${what}${more}, which svc-iam needs: name model/iam.zed, or a model that svc-access model merge made of it and others`,
      ),
    ];
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
