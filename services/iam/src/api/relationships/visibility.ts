import type {
  AuthorizationEngine,
  CallOptions,
  CheckRequest,
  ObjectReference,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import type { Caller } from "../../rights/caller-rights.ts";
import { objectText } from "../../rights/relationships.ts";
import type { RightsModel } from "../../rights/rights-model.ts";

/** Of which objects one caller may see the relationships, for one call. */
export class Visibility {
  readonly #engine: AuthorizationEngine;
  readonly #model: RightsModel;
  readonly #caller: Caller;
  readonly #options: CallOptions;
  readonly #known = new Map<string, boolean>();

  constructor(
    engine: AuthorizationEngine,
    model: RightsModel,
    caller: Caller,
    options: CallOptions,
  ) {
    this.#engine = engine;
    this.#model = model;
    this.#caller = caller;
    this.#options = options;
  }

  /**
   * @throws ServiceError FORBIDDEN if the caller may not see the relationships of one of the objects, whether or
   * not it exists; INVALID_ARGUMENT for a type that the model does not have
   */
  async assertMaySee(objects: readonly ObjectReference[]): Promise<void> {
    for (const { type } of objects) this.#model.assertRelation(type, undefined);
    const hidden = (await this.hidden(objects))[0];
    if (hidden === undefined) return;
    throw new ServiceError(
      "FORBIDDEN",
      `permission denied: the relationships of ${objectText(hidden)}`,
    );
  }

  /** The objects among these whose relationships the caller may not see. */
  async hidden(objects: readonly ObjectReference[]): Promise<readonly ObjectReference[]> {
    const asked = new Map<string, CheckRequest>();
    const subject = { type: this.#caller.subjectType, id: this.#caller.subjectId };
    for (const resource of objects) {
      const key = objectText(resource);
      if (this.#known.has(key)) continue;
      const permission = this.#model.viewPermission(resource.type);
      if (permission === undefined) this.#known.set(key, false);
      else asked.set(key, { resource: { ...resource }, permission, subject });
    }
    if (asked.size > 0) {
      const { items } = await this.#engine.checkBulk([...asked.values()], this.#options);
      for (const [index, key] of [...asked.keys()].entries()) {
        const item = items[index];
        if (item?.error !== undefined) throw item.error;
        this.#known.set(key, item?.allowed === true);
      }
    }
    return objects.filter((object) => this.#known.get(objectText(object)) !== true);
  }
}

/** An object whose relationships are not shown, in words. */
export function notShown(object: ObjectReference): string {
  const what = object.type === "group" ? "members" : "relationships";
  return `${objectText(object)} (${what} not shown)`;
}
