import type { Transaction } from "svc-access/database";
import type { SecretBox } from "../../../ground/secrets/secret-box.ts";
import { type DocumentModel, isDocumentModel } from "../../../ground/store/document-models.ts";
import { type NewProviderDocument, saveDocument } from "../../../ground/store/document-rows.ts";
import type { ProviderDocuments } from "../../../ground/store/provider-documents.ts";
import type { ProviderDocumentRow, ProviderTables } from "../../../ground/store/provider-tables.ts";
import { isGood } from "../../../ground/store/refresh-rotation.ts";
import type { Sessions } from "../../../people/sessions/sessions.ts";
import type { Payload } from "../request/request-scope.ts";
import type { AdapterContext } from "./adapter-context.ts";
import type { ProviderStores } from "./provider-stores.ts";
import { hash, SECRET_IDS, sealedPlace } from "./sealed-documents.ts";
import {
  approvalOf,
  isDecidedOn,
  isFailedDecision,
  isRefused,
  loginBegin,
  seenSession,
  withOwnSid,
} from "./seen-session.ts";

/** JWTs, which are not stored. */
const ACCESS_TOKENS: ReadonlySet<string> = new Set(["AccessToken", "ClientCredentials"]);

/** What counts only in the browser that it began in. */
const OF_BROWSERS: ReadonlySet<string> = new Set(["Interaction", "Session"]);

/** Times that the adapter applies, in milliseconds. */
export interface AdapterTimes {
  /** How long a session lasts without a login or refresh. */
  readonly sessionIdleMs: number;
  /** How long a session lasts at most. */
  readonly sessionMs: number;
  readonly now: () => number;
}

/**
 * Stores one kind of document of `oidc-provider`. Ids that are credentials are stored as SHA-256
 * hashes, and the documents sealed.
 */
export class DocumentAdapter {
  readonly #model: DocumentModel;
  readonly #documents: ProviderDocuments;
  readonly #sessions: Sessions;
  readonly #box: SecretBox;
  readonly #context: AdapterContext;
  readonly #times: AdapterTimes;

  constructor(
    model: string,
    { documents, sessions }: Pick<ProviderStores, "documents" | "sessions">,
    box: SecretBox,
    context: AdapterContext,
    times: AdapterTimes,
  ) {
    if (!isDocumentModel(model)) throw new TypeError(`add the model ${model} to DOCUMENT_MODELS`);
    this.#model = model;
    this.#documents = documents;
    this.#sessions = sessions;
    this.#box = box;
    this.#context = context;
    this.#times = times;
  }

  /** Stores a document for a number of seconds. */
  async upsert(id: string, given: Payload, expiresIn: number): Promise<void> {
    if (isFailedDecision(this.#model, given)) return;
    const payload = this.#completed(given);
    const document = this.#seal(id, payload, expiresIn);
    const requester = this.#context.requester();
    const begin = loginBegin(payload);
    const endTime = begin === undefined ? undefined : begin * 1000 + this.#times.sessionMs;
    const end = { expireTime: document.expire_time, endTime };
    const seen = seenSession(this.#model, payload, end, requester);
    const approval = approvalOf(this.#model, payload);
    const store = (tx: Transaction<ProviderTables>) => saveDocument(tx, document);
    const isFirst = (before: ProviderDocumentRow | undefined) =>
      this.#isFirstDecision(this.#open(before), payload);
    if (seen !== undefined && document.parent_id === null) {
      // Outside of the transaction, which would hold the account while the engine is asked.
      if (!(await this.#context.isLoginEnough(seen.accountId))) throw this.#context.sessionEnded();
      const isSaved = await this.#sessions.save(seen, {
        mayStore: async (tx) => {
          // The tokens of a device belong to no session that is known to have ended.
          const isDevice = seen.kind === "device";
          if (isDevice && !(await this.#documents.lockGrant(tx, document.grant_id))) return false;
          return this.#context.mayStore(tx, seen.accountId);
        },
        store,
      });
      if (!isSaved) throw this.#context.sessionEnded();
      if (seen.kind === "browser") this.#context.loginStored(seen.accountId);
    } else if (approval !== undefined) {
      const { sessionUid, accountId } = approval;
      const mayStore = (tx: Transaction<ProviderTables>) => this.#context.mayStore(tx, accountId);
      const isSaved = await this.#sessions.saveApproved(sessionUid, {
        mayStore,
        store: (tx) => this.#documents.saveIf(tx, document, isFirst),
      });
      if (!isSaved) throw this.#context.sessionEnded();
    } else if (document.parent_id !== null) {
      if (!(await this.#documents.addSuccessor(document)))
        throw this.#context.usedBefore(this.#model);
    } else if (this.#model === "ReplayDetection") {
      // Two that present the same assertion at once both found nothing before.
      if (!(await this.#documents.add(document))) throw this.#context.usedBefore(this.#model);
    } else if (this.#model === "DeviceCode" && isDecidedOn(payload)) {
      await this.#documents.saveAloneIf(document, isFirst);
    } else {
      await this.#documents.save(document);
    }
  }

  /** The document with an id. */
  async find(id: string): Promise<Payload | undefined> {
    if (ACCESS_TOKENS.has(this.#model)) return this.#context.presentedToken(this.#model, id);
    const payload = this.#open(await this.#documents.find(this.#model, this.#idOf(id)), id);
    if (payload === undefined || !this.#isOfBrowser(payload)) return undefined;
    this.#context.found(this.#model, payload);
    return this.#model === "DeviceCode" ? this.#withOwnApproval(payload) : payload;
  }

  /** What is stored of a document, besides what `oidc-provider` gives. */
  #completed(given: Payload): Payload {
    const browser = this.#context.browser();
    if (this.#model === "DeviceCode") {
      return isDecidedOn(given) ? { ...withOwnSid(given), browser } : given;
    }
    return OF_BROWSERS.has(this.#model) ? { ...given, browser } : given;
  }

  /**
   * Whether what is stored of a code is the first decision on its device. Nobody takes a device over, nor refuses one
   * that is logged in, nor approves one that was refused.
   *
   * @throws the error of a code that was used before
   */
  #isFirstDecision(before: Payload = {}, { accountId, error }: Payload): boolean {
    if (before["accountId"] === undefined && before["error"] === undefined) return true;
    this.#withOwnApproval(before);
    const wasRefused = before["error"] !== undefined;
    if (error === undefined && accountId !== undefined && !wasRefused) {
      if (before["accountId"] !== accountId) throw this.#context.usedBefore(this.#model);
      // The second of two clicks approves nothing else.
      this.#context.approvedBefore();
      return false;
    }
    // That somebody begins to approve it says nothing new, nor does a second refusal.
    const isBegun = error === undefined && accountId === undefined;
    if (isBegun || (error !== undefined && wasRefused)) return false;
    throw this.#context.usedBefore(this.#model);
  }

  /**
   * The code of a device, as its browser finds it that has sent it before: `oidc-provider` lets nobody continue with a
   * code that is being approved, also not who has clicked twice, so that the device would wait for nothing.
   */
  #withOwnApproval(payload: Payload): Payload {
    const { browser, inFlight, ...rest } = payload;
    if (browser === undefined || browser !== this.#context.browser()) return payload;
    const { accountId, error } = payload;
    if (accountId === undefined && error === undefined) return rest;
    this.#context.foundOwnDeviceCode({
      accountId: textOf(accountId) ?? undefined,
      isRefused: isRefused(payload),
    });
    return payload;
  }

  /** Its cookie may have come from another host of the domain, with the session or login of somebody else. */
  #isOfBrowser({ browser }: Payload): boolean {
    if (!OF_BROWSERS.has(this.#model)) return true;
    return typeof browser === "string" && browser === this.#context.browser();
  }

  /** The session with a `uid`. */
  async findByUid(uid: string): Promise<Payload | undefined> {
    return this.#open(await this.#documents.findBy(this.#model, "uid", uid));
  }

  /** The device code with a user code. */
  async findByUserCode(userCode: string): Promise<Payload | undefined> {
    const row = await this.#documents.findBy(this.#model, "user_code", hash(userCode));
    if (row !== undefined) this.#context.foundUserCode();
    const payload = this.#open(row);
    return payload && this.#withOwnApproval(payload);
  }

  /** Marks a token or code as used. */
  async consume(id: string): Promise<void> {
    const row = await this.#documents.find(this.#model, this.#idOf(id));
    const outcome = await this.#documents.consume(this.#model, this.#idOf(id));
    if (outcome === "used") {
      if (row !== undefined && this.#model === "RefreshToken") await this.#touch(row);
      return;
    }
    if (outcome === "used_before") {
      await this.#context.reused({
        model: this.#model,
        accountId: row?.account_id ?? undefined,
        grantId: row?.grant_id ?? undefined,
        sid: textOf(this.#open(row)?.["sid"]) ?? undefined,
      });
    }
    throw this.#context.usedBefore(this.#model);
  }

  /** Deletes a document. */
  async destroy(id: string): Promise<void> {
    if (ACCESS_TOKENS.has(this.#model)) return this.#context.tokenRevoked(this.#model, id);
    if (this.#model === "RefreshToken") await this.#mayRevoke(id);
    // What a grant has issued ends with it; `oidc-provider` ends only what it knows.
    if (this.#model === "Grant") return this.#documents.removeGrant(id);
    await this.#documents.remove(this.#model, this.#idOf(id));
  }

  async #mayRevoke(id: string): Promise<void> {
    const row = await this.#documents.find(this.#model, this.#idOf(id));
    if (row !== undefined && row.account_id !== null) await this.#context.mayRevoke(row.account_id);
  }

  /** Deletes a grant and all that it has issued. */
  async revokeByGrantId(grantId: string): Promise<void> {
    // Called once for each model, at the same time: one call is enough, and they would wait for each other.
    if (this.#model === REVOKING) await this.#documents.removeGrant(grantId);
  }

  /** The login continues for a while. */
  async #touch(row: ProviderDocumentRow): Promise<void> {
    const end = this.#idleEnd();
    if (row.session_uid !== null) await this.#documents.touchSession(row.session_uid, end);
    const id = row.session_uid ?? textOf(this.#open(row)?.["sid"]);
    if (id !== null) await this.#sessions.touch(id, end);
  }

  #seal(id: string, payload: Payload, expiresIn: number): NewProviderDocument {
    const { jti, ...stored } = payload;
    const model = this.#model;
    const stays = this.#idOf(id);
    const now = this.#times.now();
    const expires = now + expiresIn * 1000;
    const rotated = model === "RefreshToken" ? this.#context.rotatedRefreshToken() : undefined;
    // A device code is found by its user code, and is stored again then.
    const kept = SECRET_IDS.has(model) && model !== "DeviceCode" ? stored : { ...stored, jti };
    // Other tokens outlive the session in which they were approved; the code of a device may not.
    const isBound =
      payload["expiresWithSession"] === true || approvalOf(model, payload) !== undefined;
    return {
      model,
      id: stays,
      grant_id: grantOf(model, id, payload),
      uid: textOf(payload["uid"]),
      user_code: typeof payload["userCode"] === "string" ? hash(payload["userCode"]) : null,
      session_uid: isBound ? textOf(payload["sessionUid"]) : null,
      account_id: textOf(payload["accountId"]),
      payload: this.#box.seal(JSON.stringify(kept), sealedPlace(model, stays)),
      expire_time: model === "Session" ? Math.min(expires, this.#idleEnd()) : expires,
      parent_id: rotated === undefined ? null : hash(rotated),
    };
  }

  #open(row: ProviderDocumentRow | undefined, id?: string): Payload | undefined {
    if (row === undefined) return undefined;
    const now = this.#times.now();
    if (this.#model === "Session" && row.expire_time <= now) return undefined;
    const text = this.#box.open(row.payload, sealedPlace(row.model, row.id));
    const stored: Payload = JSON.parse(text);
    const isUsed = this.#model === "RefreshToken" ? !isGood(row, now) : row.consumed_time !== null;
    return {
      ...stored,
      ...(id === undefined || "jti" in stored ? {} : { jti: id }),
      ...(isUsed ? { consumed: Math.floor((row.consumed_time ?? now) / 1000) || 1 } : {}),
    };
  }

  #idleEnd(): number {
    return this.#times.now() + this.#times.sessionIdleMs;
  }

  #idOf(id: string): string {
    return SECRET_IDS.has(this.#model) ? hash(id) : id;
  }
}

/** The model whose call ends a grant; every client may have access tokens. */
const REVOKING = "AccessToken";

/** The grant with which a document ends; the login under way outlives that of the former login. */
function grantOf(model: string, id: string, payload: Payload): string | null {
  if (model === "Grant") return id;
  return model === "Interaction" ? null : textOf(payload["grantId"]);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
