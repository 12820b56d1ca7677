import { documentsOf } from "../../../../test/support/buf-documents.ts";
import { BUF } from "../../../../test/support/workspace.ts";
import {
  type Answer,
  type Json,
  type RpcCall,
  type RpcClient,
  wholeMessage,
} from "./rpc-client.ts";
import { runUntil } from "./run-until.ts";

/** `buf curl`, which gets the schema by server reflection, by the Connect protocol. */
export class BufCurlClient implements RpcClient {
  readonly name = "buf curl";
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  async call({ method, request, headers, isLast }: RpcCall): Promise<Answer> {
    const fields = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const url = `${this.#origin}/${method.parent.typeName}/${method.name}`;
    const messagesIn = (written: Buffer) =>
      (documentsIn(written.toString()) ?? [])
        .map((message) => wholeMessage(method, message))
        .filter((message) => isLast?.(message) !== false);
    const { exitCode, output, errors } = await runUntil(
      BUF,
      ["curl", "--http2-prior-knowledge", ...fields, "-d", "@-", url],
      JSON.stringify(request),
      (written) => isLast !== undefined && messagesIn(written).length > 0,
    );
    if (exitCode === 0) return { code: "ok", messages: messagesIn(output) };
    if (exitCode === undefined) return { code: "ok", messages: messagesIn(output).slice(0, 1) };
    const [error] = documentsIn(errors) ?? [];
    if (error?.code === undefined) throw new Error(`buf curl: ${errors}`);
    return { code: error.code, messages: [] };
  }
}

/** Undefined while the last one is not complete. */
function documentsIn(text: string): readonly Json[] | undefined {
  try {
    return documentsOf(text);
  } catch {
    return undefined;
  }
}
