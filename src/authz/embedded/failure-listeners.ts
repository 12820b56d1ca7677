import type { AuthzError } from "../authz-error.ts";

/** Those that are to hear when an engine can answer no more. */
export class FailureListeners {
  readonly #listeners: ((error: AuthzError) => void)[] = [];

  /** Bound: the server asks for it also of an engine that somebody has wrapped. */
  readonly add = (listener: (error: AuthzError) => void): void => {
    this.#listeners.push(listener);
  };

  tell(error: AuthzError): void {
    for (const listener of this.#listeners) listener(error);
  }
}
