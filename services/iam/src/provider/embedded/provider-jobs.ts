import type { ProviderStores } from "./adapter/provider-stores.ts";
import type { ProviderInstances } from "./provider-instances.ts";

/** Something that is done again and again while the service runs. */
export interface ProviderJob {
  /** Its name in logs. */
  readonly name: string;
  readonly everyMs: number;
  run(signal: AbortSignal): Promise<void>;
}

/** How often other replicas' keys are looked for: far more often than keys are published before they sign. */
const LOOK_FOR_KEYS_MS = 30_000;
const MAINTAIN_KEYS_MS = 600_000;
const CLEAN_UP_MS = 60_000;
const CLEAN_UP_BATCH = 500;

/** What must be done while the service runs; each of it may be done by all replicas. */
export function providerJobs(
  instances: ProviderInstances,
  { documents, sessions, revocations }: ProviderStores,
): readonly ProviderJob[] {
  return [
    { name: "provider keys", everyMs: LOOK_FOR_KEYS_MS, run: () => instances.look() },
    {
      name: "provider key rotation",
      everyMs: MAINTAIN_KEYS_MS,
      run: () => instances.maintain(),
    },
    {
      name: "provider clean-up",
      everyMs: CLEAN_UP_MS,
      run: async (signal) => {
        while (!signal.aborted) {
          if ((await documents.removeExpired(CLEAN_UP_BATCH)) < CLEAN_UP_BATCH) break;
        }
        await sessions.removeExpired();
        await revocations.removeExpired();
      },
    },
  ];
}
