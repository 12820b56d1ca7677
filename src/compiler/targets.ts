interface TargetTraits {
  /** Whether a run without a target option makes it. A new default changes the output of all users. */
  readonly isDefault: boolean;
  /** Whether its outputs, except `policies.json`, are each made from one file. */
  readonly isOfEach: boolean;
}

/** The kinds of output, in the order of generation. */
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

/** The targets of a run without a target option. */
export const DEFAULT_TARGETS: readonly Target[] = TARGETS.filter(
  (target) => TRAITS[target].isDefault,
);

/** Whether the outputs of a target can be made for each file separately. */
export function isOfEach(target: Target): boolean {
  return TRAITS[target].isOfEach;
}
