/** What distinguishes a kind of engine, for code that is given an engine or its name. */
export interface EngineTraits {
  /**
   * What to do with the relationships of a service where they are not in its database; undefined if
   * they are there.
   */
  readonly elsewhere: string | undefined;
  /** Whether it locks its store, so that a second process cannot open it. */
  readonly locksStore: boolean;
  /** Whether it reads relationships in the order of their texts, so that a list continues after its last one. */
  readonly readsInOrder: boolean;
  /** Whether svc-iam can keep its relationships in it, and decide by it for others. */
  readonly servesIam: boolean;
}

/** A kind of engine is a row here. */
const KINDS = {
  embedded: {
    elsewhere: undefined,
    locksStore: true,
    readsInOrder: true,
    servesIam: true,
  },
  spicedb: {
    elsewhere: "use zed, the command of SpiceDB",
    locksStore: false,
    readsInOrder: false,
    servesIam: true,
  },
  iam: {
    elsewhere: "list and delete them at IAM, with IAMAuthorizationService",
    locksStore: false,
    readsInOrder: false,
    servesIam: false,
  },
} as const satisfies Readonly<Record<string, EngineTraits>>;

/** A kind of authorization engine. */
export type EngineKind = keyof typeof KINDS;

/** What distinguishes the kinds of authorization engine. */
export const ENGINE_TRAITS: Readonly<Record<EngineKind, EngineTraits>> = KINDS;

/** The kinds of authorization engine. */
export const ENGINE_KINDS = Object.keys(KINDS) as readonly EngineKind[];
