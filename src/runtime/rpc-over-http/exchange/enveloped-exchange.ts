import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CallHeaders } from "../../call/call-headers.ts";
import type { Transport } from "../../call/transports.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { Exchange } from "../../http/exchange/exchange.ts";
import { isBrokenOff } from "../../http/exchange/read-body.ts";
import { countUnread, drained } from "../../http/exchange/slow-clients.ts";
import type { CodecName, Metadata, RequestReader, RpcExchange } from "../../rpc/rpc-exchange.ts";
import {
  COMPRESS_FROM_BYTES,
  ENCODING_NAMES,
  type MessageEncoding,
  requestEncoding,
  responseEncoding,
} from "../../wire/compression.ts";
import { envelopeOf, flag } from "../../wire/envelope.ts";
import { BYTES, type MessageDecoder, maxBytesOf } from "../../wire/message-decoder.ts";
import { MessageReader } from "../../wire/message-reader.ts";
import { HttpRpcExchange, type HttpRpcSettings } from "./http-exchange.ts";

/** How a protocol transports enveloped messages in HTTP bodies, and how it ends them. */
export interface EnvelopedForm {
  readonly transport: Transport;
  /** The content type of responses. */
  readonly contentType: string;
  /** The headers that name the compression of messages, and those that the sender supports. */
  readonly encodingHeader: string;
  readonly acceptHeader: string;
  /** @throws ServiceError INVALID_ARGUMENT */
  timeoutOf(headers: CallHeaders): number | undefined;
  /** The last envelope of a response. */
  last(
    error: ServiceError | undefined,
    trailers: Metadata | undefined,
    domain: string | undefined,
  ): Buffer;
  /** The text encoding of the body, if it has one. */
  readonly text?: {
    encode(bytes: Buffer): Buffer;
    /** @param onRefused called for invalid text */
    decode(incoming: IncomingMessage, onRefused: (reason: ServiceError) => void): Readable;
  };
}

/** The messages after which others get their turn, as with other streams. */
const MESSAGES_A_TURN = 64;

/** One call with enveloped messages: gRPC-Web, and Connect streams. */
export class EnvelopedExchange extends HttpRpcExchange implements RpcExchange {
  readonly transport: Transport;
  readonly #form: EnvelopedForm;
  #reader: Pick<MessageReader<unknown>, "cancel"> | undefined;
  #encoding: MessageEncoding | undefined;
  #hasBegun = false;
  #messages = 0;

  constructor(
    http: Exchange,
    path: string,
    codec: CodecName,
    settings: HttpRpcSettings,
    form: EnvelopedForm,
  ) {
    super(http, path, codec, settings);
    this.#form = form;
    this.transport = form.transport;
    // The call itself is notified when the client has disconnected.
    http.response.on("error", () => undefined);
  }

  clientTimeout(): number | undefined {
    return this.#form.timeoutOf(this.headers);
  }

  reader(): RequestReader<Uint8Array>;
  reader<Message>(decoder: MessageDecoder<Message>): RequestReader<Message>;
  reader(decoder: MessageDecoder<unknown> = BYTES): RequestReader<unknown> {
    const { encodingHeader } = this.#form;
    const encoding = requestEncoding(encodingHeader, this.headers.all(encodingHeader));
    requirePlainBody(this.headers, encodingHeader);
    const open = () => this.#open(decoder, encoding);
    return {
      single: () => open().single(),
      messages: () => {
        const reader = open();
        this.http.messages = reader;
        return reader.messages();
      },
    };
  }

  begin(own?: Metadata, length?: number): void {
    if (this.#hasBegun || !this.isOpen) return;
    const { contentType, encodingHeader, acceptHeader } = this.#form;
    const headers = this.headersOf(contentType, own);
    headers.push(acceptHeader, ENCODING_NAMES.join(","));
    if (this.settings.compression) {
      this.#encoding = responseEncoding(this.headers.all(acceptHeader));
      if (this.#encoding !== undefined) headers.push(encodingHeader, this.#encoding.name);
    }
    if (length !== undefined) headers.push("Content-Length", String(length));
    this.http.open(headers);
    this.#hasBegun = true;
  }

  async send(data: Uint8Array, signal: () => AbortSignal): Promise<void> {
    this.begin();
    this.account.lasts((reason) => this.cancelled(reason));
    const frame = await this.#frameOf(data);
    if (!this.isOpen) return;
    const written = this.#asText(frame);
    if (!this.http.response.write(written)) {
      const taken = countUnread(this.http, written.length);
      await drained(this.http.response, signal());
      taken();
    } else if (++this.#messages % MESSAGES_A_TURN === 0) await nextTurn();
  }

  succeed(trailers?: Metadata): void {
    this.#end(undefined, trailers);
  }

  reply(data: Uint8Array, own?: Metadata, trailers?: Metadata): void | Promise<void> {
    if (data.length < COMPRESS_FROM_BYTES) {
      return this.#end(undefined, trailers, own, envelopeOf(data));
    }
    this.begin(own);
    return this.#frameOf(data).then((frame) => this.#end(undefined, trailers, own, frame));
  }

  fail(error: ServiceError, own?: Metadata, trailers?: Metadata): void {
    this.#end(error, trailers, own);
  }

  protected stopReading(reason: ServiceError): void {
    this.#reader?.cancel(reason);
    this.#reader = undefined;
    if (this.#form.text !== undefined) this.http.incoming.unpipe();
  }

  /**
   * Begins to read only now: a client that waits for 100-continue does not send a body that is
   * refused anyway.
   */
  #open<Message>(
    decoder: MessageDecoder<Message>,
    encoding: MessageEncoding | undefined,
  ): MessageReader<Message> {
    const { incoming, response } = this.http;
    if (incoming.headers.expect !== undefined) response.writeContinue();
    const onRefused = (reason: ServiceError): void => this.cancelled(reason);
    let reader: MessageReader<Message> | undefined;
    const source =
      this.#form.text?.decode(incoming, (reason) => {
        reader?.cancel(reason);
        onRefused(reason);
      }) ?? incoming;
    reader = new MessageReader(source, {
      decoder,
      encoding,
      maxBytes: maxBytesOf(decoder, this.settings.limits.maxBytes),
      account: this.account,
      isBrokenOff: () => isBrokenOff(incoming),
      onRefused,
    });
    this.#reader = reader;
    return reader;
  }

  async #frameOf(data: Uint8Array): Promise<Buffer> {
    const encoding = data.length >= COMPRESS_FROM_BYTES ? this.#encoding : undefined;
    if (encoding === undefined) return envelopeOf(data);
    return envelopeOf(await encoding.pack(data), flag.COMPRESSED);
  }

  /** @param frame the message of the response, if it has one that is not sent yet */
  #end(
    error: ServiceError | undefined,
    trailers: Metadata | undefined,
    own?: Metadata,
    frame?: Buffer,
  ): void {
    const { http } = this;
    if (!this.isOpen) return this.left();
    // A client that does not read the response would not see the end either.
    if (error !== undefined && http.response.writableNeedDrain) return this.cancel();
    const last = this.#asText(this.#form.last(error, trailers, this.settings.domain));
    const rest = frame === undefined ? last : Buffer.concat([this.#asText(frame), last]);
    // The length shows the client where the response ends, though its connection stays open for the
    // rest of the request: without it clients report a broken connection instead of our error.
    this.begin(own, rest.length);
    this.ended(error);
    http.close(rest);
  }

  #asText(bytes: Buffer): Buffer {
    return this.#form.text?.encode(bytes) ?? bytes;
  }
}

/**
 * Refuses a body that is compressed as a whole, which neither protocol supports. Another program in
 * between could have read different messages.
 *
 * @throws ServiceError UNIMPLEMENTED
 */
function requirePlainBody(headers: CallHeaders, encodingHeader: string): void {
  for (const coding of headers.all("content-encoding")) {
    if (coding === "" || coding.toLowerCase() === "identity") continue;
    throw new ServiceError(
      "UNIMPLEMENTED",
      `the body must not be compressed as a whole: compress its messages, and name the encoding in ${encodingHeader}`,
    );
  }
}
