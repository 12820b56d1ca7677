import { frame } from "../../grpc/support/raw-call.ts";
import type { Field } from "../../hostile/support/raw-http.ts";
import type { Wire } from "./protocols.ts";

/** A call of an RPC, over any protocol. */
export interface WireCall {
  /** `/<package>.<Service>/<Method>` */
  readonly rpc: string;
  /** Its route; undefined if it has none. */
  readonly route:
    | { readonly method: string; readonly path: string; readonly body: string }
    | undefined;
  readonly isStreaming: boolean;
  /** The message in each encoding. */
  readonly message: Uint8Array;
  readonly json: string;
}

/** An HTTP request. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly Field[];
  readonly body: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** The request of a call in the exact form of its protocol. */
export function requestOf(wire: Wire, call: WireCall): WireRequest {
  const { rpc } = call;
  const data = wire.codec === "json" ? Buffer.from(call.json) : Buffer.from(call.message);
  switch (wire.form) {
    case "route": {
      // An RPC without a route is requested like the others.
      const { method, path, body } = call.route ?? { method: "POST", path: rpc, body: "{}" };
      const fields: Field[] = body === "" ? [] : [["Content-Type", "application/json"]];
      return { method, path, fields, body: Buffer.from(body) };
    }
    case "grpc": {
      const fields: Field[] = [
        ["Content-Type", `application/grpc+${wire.codec}`],
        ["TE", "trailers"],
      ];
      return { method: "POST", path: rpc, fields, body: frame(data) };
    }
    case "connect": {
      const kind = call.isStreaming ? `connect+${wire.codec}` : wire.codec;
      const fields: Field[] = [
        ["Content-Type", `application/${kind}`],
        ["Connect-Protocol-Version", "1"],
      ];
      return { method: "POST", path: rpc, fields, body: call.isStreaming ? frame(data) : data };
    }
    case "connect_get": {
      const message =
        wire.codec === "json"
          ? `message=${encodeURIComponent(call.json)}`
          : `base64=1&message=${data.toString("base64url")}`;
      const path = `${rpc}?connect=v1&encoding=${wire.codec}&${message}`;
      return { method: "GET", path, fields: [], body: NOTHING };
    }
    case "grpc_web":
      return webRequest(rpc, `application/grpc-web+${wire.codec}`, frame(data));
    case "grpc_web_text": {
      const text = Buffer.from(frame(data).toString("base64"), "latin1");
      return webRequest(rpc, "application/grpc-web-text+proto", text);
    }
  }
}

function webRequest(path: string, type: string, body: Buffer): WireRequest {
  const fields: Field[] = [
    ["Content-Type", type],
    ["X-Grpc-Web", "1"],
  ];
  return { method: "POST", path, fields, body };
}
