import { type RawResponse, ServiceError } from "svc-access/runtime";
import { OWN_ACCOUNT_PATH, PROVIDER_PATH } from "../../config/provider-paths.ts";
import type { BrowserIdentity } from "../../pages/browser-identity.ts";
import type { RequestHeaders } from "../../pages/cookie-values.ts";
import { foreignFormPage, slowedResponse } from "../../pages/error-pages.ts";
import type { FormTokens } from "../../pages/form-tokens.ts";
import type { PagePerson } from "../../pages/page-choices.ts";
import type { PageDesign } from "../../pages/page-design.ts";
import type { PageView } from "../../pages/page-view.ts";
import { deviceDonePage } from "../../pages/provider-pages.ts";
import { redirectResponse } from "../../pages/redirect-response.ts";
import { formParameters } from "../../pages/sent-forms.ts";
import type { FailedAttempts } from "../../people/accounts/throttle/failed-attempts.ts";
import type { Revocations } from "../../people/sessions/revocations.ts";
import type { ProviderCall } from "../identity-provider.ts";
import { hasApprovedDevice } from "./device-approvals.ts";
import { type DeviceStarts, deviceStartRefused, type UserCodeAttempts } from "./device-limits.ts";
import type { EmbeddedProviderOptions } from "./embedded-options.ts";
import { isForeignForm } from "./own-forms.ts";
import type { ProviderInstances } from "./provider-instances.ts";
import {
  DEVICE_DONE_PATH,
  DEVICE_START_PATH,
  endpointPath,
  evadesLimit,
  KEY_SET_ENDPOINT,
  LOGOUT_ENDPOINT,
  LOGOUT_FORM_PATH,
  SENT_AS_FORM,
  USER_CODE_PATH,
} from "./request/endpoints.ts";
import { noAuthentication } from "./request/no-authentication.ts";
import { refuseSecondAuthentication } from "./request/one-authentication.ts";
import { otherMethod } from "./request/other-methods.ts";
import { refuseLongParameters } from "./request/parameter-limits.ts";
import { freshRequest, hold, type ProviderRequest, queryOf } from "./request/provider-request.ts";
import { type RequestScope, requestScope } from "./request/request-scope.ts";
import { asAddress, formOfClient } from "./request/sent-as-form.ts";
import { presentTokenOf } from "./tokens/presented-token.ts";

/** What public pages of other origins may read, and browsers keep for a while. */
const CACHEABLE = /^\/(?:jwks|\.well-known\/[a-z-]+)$/;

/** When to try again while the clock is wrong. */
const CLOCK_SECONDS = 5;

/** The provider that a request came to. */
interface RequestedProvider {
  readonly issuer: string;
  readonly options: EmbeddedProviderOptions;
  readonly forms: FormTokens;
  readonly design: PageDesign;
  readonly revocations: Revocations;
  readonly attempts: FailedAttempts;
  browserOf(headers: RequestHeaders): BrowserIdentity;
  sessionOf(
    headers: RequestHeaders,
    call: ProviderCall,
  ): Promise<{ readonly uid: string; readonly accountId?: string | undefined } | undefined>;
  visitorOf(headers: RequestHeaders, call: ProviderCall): Promise<PagePerson | undefined>;
  within<T>(scope: Omit<RequestScope, "pending" | "required">, work: () => Promise<T>): Promise<T>;
}

/** What a request needs besides its provider. */
export interface EndpointParts {
  readonly instances: ProviderInstances;
  readonly userCodes: UserCodeAttempts;
  readonly deviceStarts: DeviceStarts;
}

/**
 * A request of an endpoint of `oidc-provider`: what it does not check is checked before, and what it does not do is
 * answered here.
 */
export class EndpointRequest {
  readonly #provider: RequestedProvider;
  readonly #parts: EndpointParts;
  readonly #request: ProviderRequest;
  readonly #call: ProviderCall;
  /** Below the issuer. */
  readonly #path: string;

  constructor(
    provider: RequestedProvider,
    parts: EndpointParts,
    request: ProviderRequest,
    call: ProviderCall,
  ) {
    this.#provider = provider;
    this.#parts = parts;
    this.#request = request;
    this.#call = call;
    this.#path = endpointPath(this.#sentPath);
  }

  /** @returns undefined if `oidc-provider` has answered */
  async respond(): Promise<RawResponse | undefined> {
    this.#assertServed();
    const { incoming, headers, method } = this.#request;
    const path = this.#path;
    const browser = this.#provider.browserOf(headers);
    const failed = { path: this.#request.path, headers, requestId: this.#call.requestId ?? "" };
    const other = await otherMethod(path, method, failed, () => this.#view());
    if (other !== undefined) return other;
    const isSentAsForm = method === "POST" && SENT_AS_FORM.has(path);
    const form = await this.#form(isSentAsForm);
    refuseLongParameters(path, form ?? new URLSearchParams(this.#query));
    refuseSecondAuthentication(path, form, incoming.headers.authorization);
    if (isSentAsForm && form !== undefined) return asAddress(path, form);
    return (
      noAuthentication(path, form, incoming.headers.authorization) ??
      (await this.#foreignForm(form, browser)) ??
      (await this.#ownPage(form, browser)) ??
      (await this.#slowed(form)) ??
      this.#pass(form, browser)
    );
  }

  get #sentPath(): string {
    return this.#request.path.slice(PROVIDER_PATH.length) || "/";
  }

  /** With its question mark; empty if there is none. */
  get #query(): string {
    return queryOf(this.#request.incoming.url ?? "");
  }

  /** Whether a person has entered the code of a device. */
  #hasUserCode(form: URLSearchParams | undefined): boolean {
    return this.#path === USER_CODE_PATH && form?.has("user_code") === true;
  }

  #assertServed(): void {
    if (evadesLimit(this.#sentPath)) {
      throw new ServiceError("RESOURCE_NOT_FOUND", "there is no such page");
    }
    // A token of a clock that is ahead would count long after its login was ended.
    const { clock } = this.#provider.options;
    if (clock?.problem !== undefined && !CACHEABLE.test(this.#path)) {
      throw new ServiceError("UNAVAILABLE", "the clock of this process is wrong", {
        retryAfterSeconds: CLOCK_SECONDS,
      });
    }
    // Who gets a key set that lacks a key refuses the tokens of other replicas.
    const { missing } = this.#parts.instances;
    if (this.#path === KEY_SET_ENDPOINT && missing !== undefined) throw missing;
  }

  /** The form in the body; undefined for a request without one. */
  async #form(isSentAsForm: boolean): Promise<URLSearchParams | undefined> {
    if (isSentAsForm) return formOfClient(this.#request);
    return this.#request.method === "POST" ? formParameters(await this.#request.body()) : undefined;
  }

  /** The answer to a form that is not of a page which this browser has. */
  async #foreignForm(
    form: URLSearchParams | undefined,
    browser: BrowserIdentity,
  ): Promise<RawResponse | undefined> {
    if (form === undefined) return undefined;
    const { forms } = this.#provider;
    const session = () => this.#provider.sessionOf(this.#request.headers, this.#call);
    const sessionUid = async () => (await session())?.uid;
    if (!(await isForeignForm(forms, this.#path, { form, browser, sessionUid }))) return undefined;
    const isLogout = this.#path === LOGOUT_FORM_PATH;
    // Such as after a double click, whose first answer the browser did not show.
    if (isLogout && (await session())?.accountId === undefined) {
      return redirectResponse(`${PROVIDER_PATH}${LOGOUT_ENDPOINT}`);
    }
    const again = isLogout ? LOGOUT_ENDPOINT : USER_CODE_PATH;
    return (await this.#view()).response(403, foreignFormPage(`${PROVIDER_PATH}${again}`));
  }

  /** The answer where `oidc-provider` has none, or one that is not true. */
  async #ownPage(
    form: URLSearchParams | undefined,
    browser: BrowserIdentity,
  ): Promise<RawResponse | undefined> {
    // It would end the tokens of one client, and say that the person is logged out.
    if (this.#path === LOGOUT_FORM_PATH && !form?.get("logout")) {
      return redirectResponse(OWN_ACCOUNT_PATH);
    }
    if (this.#path !== DEVICE_DONE_PATH) return undefined;
    const query = new URLSearchParams(this.#query);
    return hasApprovedDevice(this.#provider.forms, query, browser)
      ? (await this.#view()).response(200, deviceDonePage())
      : redirectResponse(`${PROVIDER_PATH}${USER_CODE_PATH}`);
  }

  /** The answer to an address that has asked too often. */
  async #slowed(form: URLSearchParams | undefined): Promise<RawResponse | undefined> {
    const { deviceStarts, userCodes } = this.#parts;
    const { clientAddress } = this.#call;
    if (this.#request.method === "POST" && this.#path === DEVICE_START_PATH) {
      const seconds = await deviceStarts.begin(clientAddress);
      if (seconds === undefined) return undefined;
      await this.#recordSlowed("device_starts");
      return deviceStartRefused(seconds);
    }
    if (!this.#hasUserCode(form)) return undefined;
    const seconds = await userCodes.begin(clientAddress);
    if (seconds === undefined) return undefined;
    await this.#recordSlowed("user_codes");
    return slowedResponse(await this.#view(), seconds);
  }

  #recordSlowed(reason: string): Promise<void> {
    const { attempts } = this.#provider;
    return attempts.record(this.#call, { event: "login.slowed", details: { reason } });
  }

  /** Has `oidc-provider` answer. */
  async #pass(form: URLSearchParams | undefined, browser: BrowserIdentity): Promise<undefined> {
    const { issuer, options, revocations } = this.#provider;
    const { incoming, response, headers, nameCause, isOwn = false } = this.#request;
    const path = this.#path;
    const { clientAddress } = this.#call;
    const instance = await this.#parts.instances.current();
    const { now = Date.now } = options;
    const own = { issuer, keys: instance.keys, revocations, now };
    const { presented, sent } = await presentTokenOf(path, form, own);
    const fresh = freshRequest({ incoming, url: `${path}${this.#query}`, form: sent });
    if (!CACHEABLE.test(path)) response.setHeader("Cache-Control", "no-store");
    const scope = {
      call: this.#call,
      browser,
      isOwn,
      userAgent: headers.all("user-agent").join(),
      ...(presented === undefined ? {} : { presented }),
      ...(path === USER_CODE_PATH && form !== undefined && { ownXsrf: form.get("xsrf") ?? "" }),
      ...(nameCause && { nameCause: (error: unknown) => this.#request.nameCause?.(error) }),
    };
    await this.#provider.within(scope, async () => {
      const ended = hold(response);
      await instance.callback(fresh, response);
      const isFound = requestScope.getStore()?.hasFoundUserCode === true;
      if (this.#hasUserCode(form) && isFound) await this.#parts.userCodes.succeeded(clientAddress);
      await ended;
    });
    return undefined;
  }

  /** The view of a page that `oidc-provider` does not show. */
  #view(): Promise<PageView> {
    const { headers } = this.#request;
    const person = () => this.#provider.visitorOf(headers, this.#call);
    const request = { headers, query: new URLSearchParams() };
    return this.#provider.design.personalView(request, this.#call, { person });
  }
}
