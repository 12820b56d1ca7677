import type { IncomingMessage, ServerResponse } from "node:http";
import { RestartableServer } from "../../../support/restartable-server.ts";

type Answer = (response: ServerResponse) => void;

/** A provider's discovery document and key set, over real HTTP. It can be stopped and started again at the same address. */
export class KeyServer extends RestartableServer {
  /** The keys of its key set. */
  keys: readonly object[] = [];
  /** Additional members of the discovery document. */
  document: Record<string, unknown> = {};
  /** Responds instead of the key set. */
  answer: Answer | undefined;
  /** The requested paths. */
  readonly asked: string[] = [];

  get keyReads(): number {
    return this.asked.filter((path) => path === "/keys").length;
  }

  protected override respond(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    this.asked.push(path);
    response.setHeader("connection", "close");
    if (path === "/.well-known/openid-configuration") {
      const document = { issuer: this.url, jwks_uri: `${this.url}/keys`, ...this.document };
      response.end(JSON.stringify(document));
    } else if (path === "/keys" && this.answer !== undefined) this.answer(response);
    else if (path === "/keys" || path === "/keys?elsewhere")
      response.end(JSON.stringify({ keys: this.keys }));
    else response.writeHead(404).end();
  }
}
