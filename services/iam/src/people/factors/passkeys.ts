import { randomBytes } from "node:crypto";
import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  VerifiedAuthenticationResponse,
} from "@simplewebauthn/server";
import type { AdditionResult, FactorAddition, FactorStore, StoredPasskey } from "./factor-store.ts";

/** Where passkeys are for. */
export interface PasskeySite {
  /** `iam.public_url`: an origin. */
  readonly origin: string;
  /** What authenticators show. */
  readonly name: string;
}

/** Whose passkey is made. */
export interface PasskeyOwner {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
}

const TIMEOUT_MS = 300_000;
const CHALLENGE_BYTES = 32;
const LONGEST_RESPONSE = 16 * 1024;
/** Bytes of the id of a credential, by WebAuthn. */
const LONGEST_ID = 1023;
/** EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257];

/** A new challenge, in base64url. */
export function newChallenge(): string {
  return randomBytes(CHALLENGE_BYTES).toString("base64url");
}

/** Makes and checks passkeys (WebAuthn). The library is loaded when the first one is used. */
export class Passkeys {
  readonly #store: FactorStore;
  readonly #site: PasskeySite;

  constructor(store: FactorStore, site: PasskeySite) {
    this.#store = store;
    this.#site = site;
  }

  /** The options by which a browser makes a passkey. */
  async creationOptions(owner: PasskeyOwner, challenge: string): Promise<object> {
    const known = await this.#store.passkeys(owner.id);
    return {
      challenge,
      rp: { id: this.#id, name: this.#site.name },
      user: {
        id: Buffer.from(owner.id).toString("base64url"),
        name: owner.username,
        displayName: owner.displayName,
      },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: known.map(descriptorOf),
      authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
      attestation: "none",
      timeout: TIMEOUT_MS,
    };
  }

  /** The options by which a browser uses a passkey of an account, or of whoever it knows. */
  async requestOptions(accountId: string | undefined, challenge: string): Promise<object> {
    const known = accountId === undefined ? [] : await this.#store.passkeys(accountId);
    return {
      challenge,
      rpId: this.#id,
      allowCredentials: known.map(descriptorOf),
      // As the only factor, it must have checked the person.
      userVerification: accountId === undefined ? "required" : "preferred",
      timeout: TIMEOUT_MS,
    };
  }

  /** Adds the passkey that a browser has made. @param response JSON @returns `refused` if it is not accepted */
  async add(
    response: string,
    challenge: string,
    addition: FactorAddition,
  ): Promise<AdditionResult> {
    const parsed = parse<RegistrationResponseJSON>(response);
    if (parsed === undefined) return "refused";
    const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
    const verified = await verifyRegistrationResponse({
      response: parsed,
      expectedChallenge: challenge,
      expectedOrigin: this.#site.origin,
      expectedRPID: this.#id,
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    }).catch(() => undefined);
    if (verified?.verified !== true) return "refused";
    const { id, publicKey, counter } = verified.registrationInfo.credential;
    if (Buffer.from(id, "base64url").length > LONGEST_ID) return "refused";
    const key = Buffer.from(publicKey).toString("base64url");
    return this.#store.addPasskey({ credentialId: id, publicKey: key, counter }, addition);
  }

  /**
   * Checks what a browser has signed.
   *
   * @param accountId whose passkey it must be; undefined: whoever's, who was checked by the authenticator
   * @param response JSON
   * @returns whose passkey it is; undefined if it is not accepted
   */
  async verify(
    accountId: string | undefined,
    response: string,
    challenge: string,
  ): Promise<string | undefined> {
    const parsed = parse<AuthenticationResponseJSON>(response);
    const passkey = parsed && (await this.#store.passkey(parsed.id));
    if (parsed === undefined || passkey === undefined) return undefined;
    if (accountId !== undefined && passkey.accountId !== accountId) return undefined;
    const isOnly = accountId === undefined;
    const verified = await this.#check(parsed, passkey, challenge, isOnly);
    if (verified?.verified !== true) return undefined;
    const { newCounter } = verified.authenticationInfo;
    return (await this.#store.use(passkey.id, newCounter)) ? passkey.accountId : undefined;
  }

  async #check(
    response: AuthenticationResponseJSON,
    { credentialId, publicKey, counter }: StoredPasskey,
    challenge: string,
    isOnly: boolean,
  ): Promise<VerifiedAuthenticationResponse | undefined> {
    const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
    return verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: this.#site.origin,
      expectedRPID: this.#id,
      credential: {
        id: credentialId,
        publicKey: new Uint8Array(Buffer.from(publicKey, "base64url")),
        counter,
      },
      requireUserVerification: isOnly,
    }).catch(() => undefined);
  }

  /** The host of the site, whatever its port. */
  get #id(): string {
    return new URL(this.#site.origin).hostname;
  }
}

function descriptorOf({ credentialId }: StoredPasskey) {
  return { type: "public-key", id: credentialId };
}

/** What the library checks further. */
function parse<Response extends { readonly id: string }>(text: string): Response | undefined {
  if (text.length > LONGEST_RESPONSE) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isResponse = typeof value === "object" && value !== null && "id" in value;
    return isResponse && typeof value.id === "string" ? (value as unknown as Response) : undefined;
  } catch {
    return undefined;
  }
}
