const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Bytes in base32 (RFC 4648) without padding, as authenticator apps read them. */
export function base32(bytes: Uint8Array): string {
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => ALPHABET[Number.parseInt(group.padEnd(5, "0"), 2)])
    .join("");
}

/** The bytes of a text in base32. */
export function fromBase32(text: string): Uint8Array {
  const bits = [...text].map((one) => ALPHABET.indexOf(one).toString(2).padStart(5, "0")).join("");
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}
