/** An authenticator of passkeys in software (WebAuthn, ES256), whose responses tests can falsify. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** What a page asks for, as far as an authenticator reads it. */
export interface PasskeyOptions {
  readonly challenge: string;
}

/** What an authenticator and its browser say in a ceremony. */
export interface Ceremony {
  /** Of the page. */
  readonly origin: string;
  readonly rpId: string;
  readonly challenge: string;
  /** Of the client data. */
  readonly type: string;
  readonly crossOrigin: boolean;
  readonly isPresent: boolean;
  readonly isVerified: boolean;
  readonly counter: number;
  /** The id of the credential. */
  readonly id: Buffer;
  readonly signer: KeyObject;
  /** The statement of attestation. */
  readonly format: string;
  readonly statement: ReadonlyMap<CborKey, Cbor>;
  /** The COSE key. */
  readonly key: ReadonlyMap<CborKey, Cbor>;
}

type CborKey = string | number;
type Cbor = number | string | Buffer | readonly Cbor[] | ReadonlyMap<CborKey, Cbor>;

const [PRESENT, VERIFIED, ATTESTED] = [0x01, 0x04, 0x40];

/** One passkey, which counts its signatures unless a test turns that off. */
export class Authenticator {
  readonly #pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #origin: string;
  readonly #isCounting: boolean;
  readonly id = randomBytes(32);
  counter = 0;

  constructor(origin: string, isCounting = true) {
    this.#origin = origin;
    this.#isCounting = isCounting;
  }

  /** The key that signs. */
  get signer(): KeyObject {
    return this.#pair.privateKey;
  }

  /** The COSE key: EC2, ES256, P-256. */
  get key(): ReadonlyMap<CborKey, Cbor> {
    const { x = "", y = "" } = this.#pair.publicKey.export({ format: "jwk" });
    return new Map<CborKey, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, "base64url")],
      [-3, Buffer.from(y, "base64url")],
    ]);
  }

  /** Makes the passkey. @returns what the form of the page sends */
  create(options: PasskeyOptions, change: Partial<Ceremony> = {}): string {
    const ceremony = this.#ceremony("webauthn.create", options, change);
    const { id, key, format, statement } = ceremony;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, id, cbor(key)]);
    const authData = Buffer.concat([authenticatorData(ceremony, ATTESTED), credential]);
    const attestationObject = cbor(
      new Map<CborKey, Cbor>([
        ["fmt", format],
        ["attStmt", statement],
        ["authData", authData],
      ]),
    );
    return json(ceremony, { clientDataJSON: clientData(ceremony), attestationObject });
  }

  /** Signs with the passkey. @returns what the form of the page sends */
  use(options: PasskeyOptions, change: Partial<Ceremony> = {}): string {
    if (this.#isCounting) this.counter++;
    const ceremony = this.#ceremony("webauthn.get", options, change);
    const client = clientData(ceremony);
    const data = authenticatorData(ceremony, 0);
    const signed = Buffer.concat([data, sha256(client)]);
    const signature = sign("sha256", signed, ceremony.signer);
    return json(ceremony, { clientDataJSON: client, authenticatorData: data, signature });
  }

  #ceremony(type: string, { challenge }: PasskeyOptions, change: Partial<Ceremony>): Ceremony {
    return {
      origin: this.#origin,
      rpId: new URL(this.#origin).hostname,
      challenge,
      type,
      crossOrigin: false,
      isPresent: true,
      isVerified: true,
      counter: this.counter,
      id: this.id,
      signer: this.signer,
      format: "none",
      statement: new Map(),
      key: this.key,
      ...change,
    };
  }
}

function clientData({ type, challenge, origin, crossOrigin }: Ceremony): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }));
}

function authenticatorData({ rpId, isPresent, isVerified, counter }: Ceremony, more: number) {
  const flags = (isPresent ? PRESENT : 0) | (isVerified ? VERIFIED : 0) | more;
  const rest = Buffer.alloc(5);
  rest.writeUInt8(flags);
  rest.writeUInt32BE(counter, 1);
  return Buffer.concat([sha256(rpId), rest]);
}

function json({ id }: Ceremony, response: Readonly<Record<string, Buffer>>): string {
  const text = id.toString("base64url");
  const fields = Object.entries(response).map(([name, bytes]) => [
    name,
    bytes.toString("base64url"),
  ]);
  return JSON.stringify({
    id: text,
    rawId: text,
    type: "public-key",
    clientExtensionResults: {},
    response: Object.fromEntries(fields),
  });
}

function sha256(data: Buffer | string): Buffer {
  return createHash("sha256").update(data).digest();
}

/** A value in CBOR (RFC 8949). */
function cbor(value: Cbor): Buffer {
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    return Buffer.concat([head(3, bytes.length), bytes]);
  }
  if (value instanceof Map) {
    const pairs = [...(value as ReadonlyMap<CborKey, Cbor>)].flat();
    return Buffer.concat([head(5, pairs.length / 2), ...pairs.map(cbor)]);
  }
  const items = value as readonly Cbor[];
  return Buffer.concat([head(4, items.length), ...items.map(cbor)]);
}

function head(major: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(major << 5) | size]);
  if (size < 0x100) return Buffer.from([(major << 5) | 24, size]);
  return Buffer.from([(major << 5) | 25, size >> 8, size & 0xff]);
}
