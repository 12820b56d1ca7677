/** What can be generated. */
export const TARGETS = ["routes", "policies", "server", "gateway"] as const;

/** One kind of output. */
export type Target = (typeof TARGETS)[number];

interface TargetTraits {
  /** Whether a run that names no target makes it. */
  readonly isDefault: boolean;
  /** Whether its outputs are, but for `policies.json`, each of one file. */
  readonly isOfEach: boolean;
}

const TRAITS: Readonly<Record<Target, TargetTraits>> = {
  routes: { isDefault: true, isOfEach: false },
  policies: { isDefault: true, isOfEach: true },
  server: { isDefault: true, isOfEach: true },
  gateway: { isDefault: true, isOfEach: false },
};

/** What a run makes that names no target: a new one of these changes what every user generates. */
export const DEFAULT_TARGETS: readonly Target[] = TARGETS.filter(
  (target) => TRAITS[target].isDefault,
);

/** Whether the outputs of a target can be made for each file by itself. */
export function isOfEach(target: Target): boolean {
  return TRAITS[target].isOfEach;
}
