import type { Job } from "svc-access/runtime";
import type { ProviderStores } from "./adapter/provider-stores.ts";
import type { ProviderInstances } from "./provider-instances.ts";

/** Far more often than keys are published before they sign. */
const LOOK_FOR_KEYS = "30s";
const CLEAN_UP_BATCH = 500;

/** What must be done while the service runs; each of it may be done by all replicas. */
export function providerJobs(
  instances: ProviderInstances,
  { documents, sessions, revocations }: ProviderStores,
): readonly Job[] {
  return [
    { name: "provider_keys", every: LOOK_FOR_KEYS, run: () => instances.look() },
    { name: "provider_key_rotation", every: "10m", run: () => instances.maintain() },
    {
      name: "provider_clean_up",
      every: "1m",
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
