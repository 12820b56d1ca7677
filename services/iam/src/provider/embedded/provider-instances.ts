import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { OWN_ACCOUNT_PATH } from "../../config/provider-paths.ts";
import { MissingKeyError } from "../../ground/secrets/secret-box.ts";
import type { ProviderDatabase } from "../../ground/store/provider-database.ts";
import type { Rotation } from "../../ground/store/provider-keys.ts";
import type { FormTokens } from "../../pages/form-tokens.ts";
import { personOf } from "../../pages/page-choices.ts";
import type { PageDesign } from "../../pages/page-design.ts";
import type { PageView } from "../../pages/page-view.ts";
import { providerPages } from "../../pages/provider-pages.ts";
import type { ProviderStores } from "./adapter/provider-stores.ts";
import { createInstance, type InstanceParts } from "./create-instance.ts";
import { deviceApprovals } from "./device-approvals.ts";
import type { EmbeddedProviderOptions } from "./embedded-options.ts";
import { type SigningKey, SigningKeys, versionOf } from "./keys/signing-keys.ts";
import type { LogoutNotices } from "./logout-notices.ts";
import { ownForms } from "./own-forms.ts";
import { recordEvent } from "./request/provider-events.ts";
import { requestError } from "./request/provider-failure.ts";
import { requestScope } from "./request/request-scope.ts";

/** A provider with the keys of a moment. */
export interface Instance {
  readonly provider: Provider;
  readonly keys: readonly SigningKey[];
  /** Changes with the keys and the clients. */
  readonly version: string;
  readonly callback: (request: object, response: object) => Promise<void>;
}

/** What the instances share with the parts around them. */
export interface SharedParts {
  readonly forms: FormTokens;
  readonly design: PageDesign;
  readonly notices: LogoutNotices;
}

/** The provider with the keys of now: another one for each change of the keys. */
export class ProviderInstances {
  readonly #options: EmbeddedProviderOptions;
  readonly #stores: ProviderStores;
  readonly #parts: InstanceParts;
  readonly #keys: SigningKeys;
  #instance: Promise<Instance> | undefined;
  #missing: MissingKeyError | undefined;
  /** Settles with the last look that was begun; never fails. */
  #lastLook: Promise<unknown> = Promise.resolve();

  constructor(
    options: EmbeddedProviderOptions,
    database: ProviderDatabase,
    stores: ProviderStores,
    { forms, design, notices }: SharedParts,
  ) {
    const { box, now, keyTimes, newKey } = options;
    this.#options = options;
    this.#stores = stores;
    const pages = providerPages({
      ...ownForms(forms),
      ...deviceApprovals(forms),
      view: (ctx) => viewOf(design, ctx),
      accountPath: OWN_ACCOUNT_PATH,
    });
    this.#parts = { pages, notices };
    this.#keys = new SigningKeys(database, box, keyEvents(options), {
      ...(keyTimes === undefined ? {} : { times: keyTimes }),
      ...(now === undefined ? {} : { now }),
      ...(newKey === undefined ? {} : { newKey }),
    });
  }

  /** The provider of the moment, for a request. */
  async current(): Promise<Instance> {
    try {
      return await this.load();
    } catch (error) {
      throw requestError(error);
    }
  }

  /**
   * The provider of the moment.
   *
   * @throws UnsealError if a signing key cannot be read
   */
  async load(): Promise<Instance> {
    this.#instance ??= this.#make();
    try {
      return await this.#instance;
    } catch (error) {
      this.#instance = undefined;
      throw error;
    }
  }

  /**
   * Makes a new provider if the keys or the clients have changed, also by another replica.
   *
   * @throws MissingKeyError if another replica has sealed a key that this one cannot open
   */
  look(): Promise<void> {
    // One at a time, each after the changes that came before its call: an older look must not finish last, since it
    // would put back keys that were retired meanwhile.
    const looked = this.#lastLook.then(() => this.#lookNow());
    this.#lastLook = looked.catch(() => undefined);
    return looked;
  }

  async #lookNow(): Promise<void> {
    try {
      await this.#look();
      this.#missing = undefined;
    } catch (error) {
      if (error instanceof MissingKeyError) this.#missing = error;
      throw error;
    }
  }

  /** The encryption key that this process lacks, as it was last seen. */
  get missing(): MissingKeyError | undefined {
    return this.#missing;
  }

  async #look(): Promise<void> {
    if (this.#instance === undefined) return;
    const { version } = await this.load();
    if (joined(await this.#keys.version(), await this.#refreshClients()) === version) return;
    // Requests under way continue with the one before.
    const made = await this.#make();
    this.#instance = Promise.resolve(made);
  }

  /** Lets the next key sign. */
  async rotate(options: { readonly isUrgent?: boolean }): Promise<Rotation> {
    const rotation = await this.#keys.rotate(options);
    await this.look();
    return rotation;
  }

  /** Rotates the keys when it is time. */
  async maintain(): Promise<void> {
    await this.#keys.maintain();
    await this.look();
  }

  async #refreshClients(): Promise<string> {
    const { clients } = this.#options;
    return "refresh" in clients ? clients.refresh() : "";
  }

  async #make(): Promise<Instance> {
    const oidc = await import("oidc-provider");
    const keys = await this.#keys.load();
    const version = joined(versionOf(keys), await this.#refreshClients());
    const provider = createInstance(oidc, this.#options, keys, this.#stores, this.#parts);
    return { provider, keys, version, callback: provider.callback() as never };
  }
}

function joined(keys: string, clients: string): string {
  return `${keys} ${clients}`;
}

function keyEvents(options: EmbeddedProviderOptions) {
  const riskLevel = "MEDIUM";
  return {
    keyMade: (kid: string) =>
      recordEvent(options, { event: "signing_key.made", riskLevel, details: { kid } }),
    keyRotated: (kid: string, retired = "") =>
      recordEvent(options, { event: "signing_key.rotated", riskLevel, details: { kid, retired } }),
  };
}

/** The view for a request of `oidc-provider`. */
async function viewOf(design: PageDesign, ctx: KoaContextWithOIDC): Promise<PageView> {
  const { requestId = "" } = requestScope.getStore()?.call ?? {};
  const headers = { all: (name: string) => [ctx.get(name)] };
  const query = new URLSearchParams(ctx.querystring);
  // Errors of requests that were not read have no parameters.
  const { params, session } = (ctx.oidc ?? {}) as {
    readonly params?: Readonly<Record<string, unknown>>;
    readonly session?: { readonly accountId?: string };
  };
  const locales = params?.["ui_locales"] ?? query.get("ui_locales");
  // What does not answer is not asked for the look of the page, too.
  if (ctx.status === 503) return design.view({ headers, query }, { requestId }, locales);
  const person = () => personOf(session?.accountId);
  return design.personalView({ headers, query }, { requestId }, { locales, person });
}
