interface TargetTraits {
  /** Whether a run without a target option makes it. A new default changes the output of all users. */
  readonly isDefault: boolean;
  /** Whether its outputs, except the one that spans files, are each made from one file. */
  readonly isOfEach: boolean;
  /** The output, or the folder of outputs, that spans files; undefined if each is made from one file. */
  readonly spanning: string | undefined;
}

/** The kinds of output, in the order of generation. */
const TRAITS = {
  routes: { isDefault: true, isOfEach: false, spanning: "routes/" },
  policies: { isDefault: true, isOfEach: true, spanning: "policies.json" },
  server: { isDefault: true, isOfEach: true, spanning: undefined },
  gateway: { isDefault: true, isOfEach: false, spanning: "gateway/" },
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

/** The output of a target that spans files, which only a run with all files can make; undefined if none does. */
export function spanningOutput(target: Target): string | undefined {
  return TRAITS[target].spanning;
}
