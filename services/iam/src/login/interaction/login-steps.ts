import type { MessageKey } from "../../pages/texts.ts";
import { waitText } from "../../pages/wait-text.ts";
import { retrySeconds } from "../../people/accounts/throttle/retry-seconds.ts";
import type { Factors } from "../../people/factors/factors.ts";
import { newTotpSecret } from "../../people/factors/one-time-codes.ts";
import { newChallenge } from "../../people/factors/passkeys.ts";
import type { FormProblem } from "./interaction-pages.ts";

/** Whose password was right. */
export interface FirstStep {
  readonly accountId: string;
  readonly passwordVersion: number;
}

const WRONG_CODE: MessageKey =
  "The code is wrong, or was used. Wait for the next one; a recovery code has 16 letters and digits from 2 to 7.";
const ADDED_BEFORE: MessageKey =
  "The app was added. Enter its next code. If you have not seen your recovery codes, make new ones in your account.";

/** How far a login has come. It is sealed in the token of the form, for the browser of the login. */
export interface LoginState {
  /** What a passkey signs. */
  readonly challenge: string;
  readonly first?: FirstStep;
  /** The secret of an app that is added, which somebody must have. */
  readonly secret?: string;
  /** When it was added, in seconds since the epoch: only the recovery codes are left to be read. */
  readonly enrolledTime?: number;
}

/** What happened, for the audit. */
export interface StepEvent {
  readonly event:
    | "second_factor.enrolled"
    | "second_factor.used"
    | "second_factor.failed"
    | "recovery_code.used";
  readonly accountId?: string;
  readonly method: string;
}

/** What a step has led to. */
export type StepResult =
  /** The login is complete. */
  | {
      readonly outcome: "done";
      readonly first: FirstStep;
      /** The methods, as of RFC 8176. */
      readonly amr: readonly string[];
      /** When the last of them was right, in seconds since the epoch; just now if absent. */
      readonly time?: number;
      readonly event?: StepEvent;
    }
  /** Another page follows. */
  | {
      readonly outcome: "page";
      readonly state: LoginState;
      readonly status: number;
      readonly problem?: FormProblem;
      /** New recovery codes, to be shown. */
      readonly codes?: readonly string[];
      readonly retryAfterSeconds?: number;
      readonly event?: StepEvent;
    };

/** Who is at work, and from where. */
export interface StepCall {
  readonly clientAddress: string;
  readonly signal: AbortSignal;
}

/** The steps of a login after the password, and that of a passkey in its place. */
export class LoginSteps {
  readonly #factors: Factors;
  readonly #versionOf: (accountId: string) => Promise<number | undefined>;

  /** @param versionOf the version of the password of an enabled account; undefined for another one */
  constructor(factors: Factors, versionOf: (accountId: string) => Promise<number | undefined>) {
    this.#factors = factors;
    this.#versionOf = versionOf;
  }

  /** The state of a login that begins. */
  begin(): LoginState {
    return { challenge: newChallenge() };
  }

  /** What follows a right password. */
  async afterPassword(first: FirstStep, { signal }: StepCall): Promise<StepResult> {
    const { accountId } = first;
    const known = await this.#factors.store.list(accountId);
    if (known.length > 0) return secondStep(first);
    if (!(await this.#factors.isRequired(accountId, signal))) {
      return { outcome: "done", first, amr: ["pwd"] };
    }
    const state = { challenge: newChallenge(), first, secret: newTotpSecret() };
    return { outcome: "page", status: 200, state };
  }

  /** What a form of a step leads to. */
  async act(state: LoginState, form: URLSearchParams, call: StepCall): Promise<StepResult> {
    const { first } = state;
    if (form.get("action") === "passkey") return this.#passkey(state, form);
    if (first === undefined)
      return again(state, 400, { text: "The form has expired. Send it again." });
    if (state.enrolledTime !== undefined) {
      return { outcome: "done", first, amr: ["pwd", "otp", "mfa"], time: state.enrolledTime };
    }
    return state.secret === undefined
      ? this.#code(state, first, form.get("code") ?? "", call)
      : this.#enroll(state, first, state.secret, form.get("code") ?? "");
  }

  async #code(
    state: LoginState,
    first: FirstStep,
    code: string,
    { clientAddress }: StepCall,
  ): Promise<StepResult> {
    const { accountId } = first;
    const result = await this.#factors.verifyCode(accountId, code, clientAddress);
    if (result.outcome === "slowed") {
      const seconds = retrySeconds(result);
      const text = "There were too many failed attempts. Try again in {seconds} s.";
      return {
        ...again(state, 429, waitText(text, seconds)),
        retryAfterSeconds: seconds,
        event: { event: "second_factor.failed", accountId, method: "slowed" },
      };
    }
    if (result.outcome === "refused") {
      const text =
        "Too many codes of your app were wrong, one after the other. Use a recovery code or a passkey. Without them, ask whoever manages your account to reset your password, or to remove your second factors.";
      return {
        ...again(state, 403, { text }),
        event: { event: "second_factor.failed", accountId, method: "refused" },
      };
    }
    if (result.outcome === "wrong") {
      return {
        ...again(state, 401, { text: WRONG_CODE }),
        event: { event: "second_factor.failed", accountId, method: "code" },
      };
    }
    const { method } = result;
    const event = method === "totp" ? "second_factor.used" : "recovery_code.used";
    return {
      outcome: "done",
      first,
      amr: ["pwd", "otp", "mfa"],
      event: { event, accountId, method },
    };
  }

  async #passkey(state: LoginState, form: URLSearchParams): Promise<StepResult> {
    const { first, challenge } = state;
    const expected = first?.accountId;
    const response = form.get("passkey") ?? "";
    const accountId = await this.#factors.verifyPasskey(expected, response, challenge);
    const version =
      accountId === undefined || first !== undefined
        ? first?.passwordVersion
        : await this.#versionOf(accountId);
    if (accountId === undefined || version === undefined) {
      return {
        ...again(state, 401, { text: "The passkey was not accepted." }),
        event: {
          event: "second_factor.failed",
          method: "passkey",
          ...(expected === undefined ? {} : { accountId: expected }),
        },
      };
    }
    return {
      outcome: "done",
      first: { accountId, passwordVersion: version },
      amr: first === undefined ? ["hwk", "user", "mfa"] : ["pwd", "hwk", "mfa"],
      event: { event: "second_factor.used", accountId, method: "passkey" },
    };
  }

  async #enroll(
    state: LoginState,
    first: FirstStep,
    secret: string,
    code: string,
  ): Promise<StepResult> {
    const { accountId } = first;
    const added = await this.#factors.addFirstApp(first, secret, code);
    // Whoever has only the password must not add a factor beside one that was added meanwhile.
    if (added === "not_first") return secondStep(first);
    // Such as after a double click, whose first answer, with the recovery codes, the browser did not show.
    if (added === "known") return { ...secondStep(first), problem: { text: ADDED_BEFORE } };
    // Such as after a reset of the password: no code would be right any more.
    if (added === "lost_owner") {
      return again(this.begin(), 401, {
        text: "The login was ended while it was under way. Begin it again.",
      });
    }
    if (added === undefined) {
      return again(state, 400, {
        text: "The code is wrong. Check the clock of the device, and enter the next code.",
      });
    }
    return {
      outcome: "page",
      status: 200,
      state: { challenge: state.challenge, first, enrolledTime: Math.floor(Date.now() / 1000) },
      codes: added.codes,
      event: { event: "second_factor.enrolled", accountId, method: "totp" },
    };
  }
}

/** The page on which the second factor is asked for. */
function secondStep(first: FirstStep) {
  return { outcome: "page" as const, status: 200, state: { challenge: newChallenge(), first } };
}

/** The same page, with why. A passkey signs another challenge. */
function again(state: LoginState, status: number, problem: FormProblem) {
  const next = { ...state, challenge: newChallenge() };
  return { outcome: "page", status, state: next, problem } as const;
}
