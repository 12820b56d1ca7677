import { documentsOf } from "../../support/buf-documents.ts";
import { runProgram } from "../../support/run-program.ts";
import { BUF } from "../../support/workspace.ts";
import type { Answer, Caller, Headers, Json } from "./caller.ts";

const GRPC = ["curl", "--http2-prior-knowledge", "--protocol", "grpc"];

/** Calls with `buf curl`, which gets the schema by server reflection. */
export class BufCurl implements Caller {
  readonly #url: string;
  readonly #curl: readonly string[];

  /** @param curl the command, with the flags of the protocol */
  constructor(address: string, curl: readonly string[] = GRPC) {
    this.#url = `http://${address}`;
    this.#curl = curl;
  }

  /** The RPCs that it lists. */
  async methods(): Promise<string[]> {
    const { output } = await runProgram(BUF, [...this.#curl, "--list-methods", this.#url]);
    return output.split("\n").filter((line) => line !== "");
  }

  async call(rpc: string, request: Json, headers: Headers): Promise<Answer> {
    const requests: Json[] = Array.isArray(request) ? request : [request];
    const fields = Object.entries(headers).flatMap(([key, value]) => ["-H", `${key}: ${value}`]);
    const { exitCode, output, errors } = await runProgram(
      BUF,
      [...this.#curl, "--emit-defaults", ...fields, "-d", "@-", `${this.#url}/${rpc}`],
      requests.map((message) => JSON.stringify(message)).join("\n"),
    );
    const messages = documentsOf(output);
    if (exitCode === 0) return { code: "ok", error: "", messages };
    const [error] = documentsOf(errors);
    if (error?.code === undefined) throw new Error(`buf curl: ${errors}`);
    return { code: error.code, error: error.message ?? "", messages };
  }
}
