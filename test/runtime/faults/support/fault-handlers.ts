import { setTimeout as sleep } from "node:timers/promises";
import type { AuthorizationEngine } from "../../../../src/authz/engine/engine.ts";
import type { VaultServiceHandlers } from "../../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../../support/vault-handlers.ts";

/** From so many on, a watched document says as much as it can, as fast as it can. */
export const FLOOD = 1_000_000;
const LARGE = "x".repeat(16 * 1024);
const PAUSE = 10;

/** What handlers saw of calls that were ended early. */
export interface Seen {
  /** How many messages streams gave. */
  messages: number;
  streamsBegun: number;
  /** How many calls began to wait for their signal. */
  waiting: number;
  /** Notices that take their time. */
  sleeping: number;
  /** How many streams ended: at the end of them, or before. */
  streamsEnded: number;
  /** The reasons of the signals that handlers heard. */
  readonly aborts: string[];
  /** The notices whose handlers came to their end, heard or not. */
  readonly finished: string[];
}

/**
 * The handlers of the vault, which also do what they are asked: the notice `sleep-MS` takes
 * so long and hears no signal, `wait` ends with its signal only; a document's update that says
 * `grant ID` lets alice view the document ID, and `sleep MS` is as slow as the notice.
 */
export function faultHandlers(engine?: () => AuthorizationEngine): {
  handlers: VaultServiceHandlers;
  seen: Seen;
} {
  const seen: Seen = {
    messages: 0,
    streamsBegun: 0,
    waiting: 0,
    sleeping: 0,
    streamsEnded: 0,
    aborts: [],
    finished: [],
  };
  const usual = vaultHandlers();
  const handlers: VaultServiceHandlers = {
    ...usual,
    async getNotice(request, context) {
      const [what, milliseconds] = request.noticeId.split("-");
      if (what === "sleep") {
        seen.sleeping++;
        await sleep(Number(milliseconds));
      }
      if (what === "wait") {
        seen.waiting++;
        await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
        seen.aborts.push((context.signal.reason as { code: string }).code);
      }
      seen.finished.push(request.noticeId);
      return usual.getNotice(request, context);
    },
    async updateDocument(request, context) {
      const [what, id] = request.text.split(" ");
      if (what === "grant" && id !== undefined) await grant(required(engine), id);
      if (what === "sleep") await sleep(Number(id));
      seen.finished.push(request.text);
      return usual.updateDocument(request, context);
    },
    async *watchDocument({ count }) {
      seen.streamsBegun++;
      try {
        for (let index = 0; index < count; index++) {
          if (count < FLOOD) await sleep(PAUSE);
          seen.messages++;
          yield { echo: count < FLOOD ? String(index) : LARGE };
        }
      } finally {
        seen.streamsEnded++;
      }
    },
  };
  return { handlers, seen };
}

async function grant(engine: AuthorizationEngine, id: string): Promise<void> {
  const relationship = {
    resource: { type: "document", id },
    relation: "viewer",
    subject: { type: "user", id: "alice" },
  };
  await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
}

function required(engine: (() => AuthorizationEngine) | undefined): AuthorizationEngine {
  if (engine === undefined) throw new Error("there is no engine to grant by");
  return engine();
}
