interface TargetTraits {
  /** Whether a run that names no target makes it: one that is added changes what every user generates. */
  readonly isDefault: boolean;
  /** Whether its outputs are, but for `policies.json`, each of one file. */
  readonly isOfEach: boolean;
}

/** What can be generated, in the order in which it is made. */
const TRAITS = {
  routes: { isDefault: true, isOfEach: false },
  policies: { isDefault: true, isOfEach: true },
  server: { isDefault: true, isOfEach: true },
  gateway: { isDefault: true, isOfEach: false },
} as const satisfies Readonly<Record<string, TargetTraits>>;

/** One kind of output. */
export type Target = keyof typeof TRAITS;

/** The names of all targets. */
export const TARGETS = Object.keys(TRAITS) as readonly Target[];

/** What a run makes that names no target. */
export const DEFAULT_TARGETS: readonly Target[] = TARGETS.filter(
  (target) => TRAITS[target].isDefault,
);

/** Whether the outputs of a target can be made for each file by itself. */
export function isOfEach(target: Target): boolean {
  return TRAITS[target].isOfEach;
}
