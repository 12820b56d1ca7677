import { createEmbeddedEngine } from "../../authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import { createAuthorizationEngine } from "../../runtime/server/open-engine.ts";
import { OperatorError, readConfig, type StoreFlags } from "../command/flags.ts";
import { openStore } from "./open-embedded-store.ts";
import { readModel } from "./selection.ts";

/** The flags that select the engine: a configuration, or a store and its model. */
export interface EngineFlags extends StoreFlags {
  readonly model?: string;
}

/** Opens the engine in the flags; the embedded engine locks its store. */
export async function openEngine(flags: EngineFlags): Promise<AuthorizationEngine> {
  const { config, model: file } = flags;
  if (config !== undefined) {
    if (file !== undefined || flags.schema !== undefined) {
      throw new OperatorError(
        "--model and --schema need --store: the configuration already names both",
      );
    }
    return createAuthorizationEngine(await readConfig(config));
  }
  if (file === undefined) {
    throw new OperatorError(
      "set --config <file>, or --store <file or URL> with --model <file>: relationships must conform to the model",
    );
  }
  const model = readModel(file);
  return createEmbeddedEngine({ model, modelFile: file, store: await openStore(flags) });
}
