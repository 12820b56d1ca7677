import { findGaps, formatGaps, type Model, parseModel } from "../../model/index.ts";
import { whyNotReady } from "../engine/asked-server.ts";
import type { Readiness } from "../engine/engine.ts";
import type { CallOptions } from "../engine/requests.ts";
import type { IamSession } from "./session.ts";

/** Says whether IAM answers, and its model contains that of the service. */
export class ModelReadiness {
  readonly #session: IamSession;
  /** The last model of IAM, and what it lacks. */
  #compared: { readonly text: string; readonly lack: string | undefined } | undefined;

  constructor(session: IamSession) {
    this.#session = session;
  }

  async ready(options: CallOptions = {}): Promise<Readiness> {
    try {
      const { model } = await this.#session.run(options, (call) =>
        this.#session.ask(call, (options) => this.#session.calls.getModel({}, options)),
      );
      const lack = this.#lackOf(model);
      return lack === undefined ? { ready: true } : { ready: false, reason: lack };
    } catch (error) {
      return { ready: false, reason: whyNotReady(this.#session.server, error) };
    }
  }

  #lackOf(text: string): string | undefined {
    if (this.#compared?.text !== text) {
      this.#compared = { text, lack: whyNotContained(text, this.#session.model) };
    }
    return this.#compared.lack;
  }
}

function whyNotContained(text: string, model: Model): string | undefined {
  const platform = parseModel(text, "model of IAM");
  const [first] = platform.diagnostics;
  if (first !== undefined) {
    return `the model of IAM is not valid here (line ${first.line ?? 1}): ${first.message}`;
  }
  const gaps = findGaps(platform.model, model);
  if (gaps.length === 0) return undefined;
  return `the model of IAM does not contain the service's model: ${formatGaps(gaps)}; give IAM the model of all services; svc-access model merge makes it`;
}
