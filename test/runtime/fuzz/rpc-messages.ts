import { deflateSync, gzipSync } from "node:zlib";
import { BODY_PIECES } from "./http-dictionary.ts";
import { mutateText, type Random } from "./random.ts";

/** A message with its prefix, randomly changed, compressed, or with a wrong length. */
export function framed(random: Random, plain: Buffer, encoding: string | undefined): Buffer {
  let message = random.chance(20) ? changed(random, plain) : plain;
  let flag = 0;
  if (encoding === "gzip" || encoding === "deflate" ? random.chance(70) : random.chance(2)) {
    flag = 1;
    message = packed(random, message, encoding);
  }
  if (random.chance(2)) flag = random.below(256);
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  const length = random.chance(3)
    ? random.pick([0, 1, message.length + 1, 2 ** 22 + 1, 2 ** 32 - 1])
    : message.length;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}

/** A message in an encoding, valid or not; some decompress to far too much. */
export function packed(random: Random, plain: Buffer, encoding: string | undefined): Buffer {
  const message = random.chance(3) ? Buffer.alloc(8 * 1024 * 1024) : plain;
  if (random.chance(8)) return plain;
  return encoding === "deflate" ? deflateSync(message) : gzipSync(message);
}

/** The same in JSON. */
export function jsonOf(random: Random, rpc: string): Buffer {
  const id = random.chance(75)
    ? "open"
    : random.pick(["closed", "", "*", "open#viewer", "\\u006fpen", "document:open", " open"]);
  const name = random.chance(90) ? "documentId" : "document_id";
  let text: string;
  switch (rpc) {
    case "GetProfile":
    case "ListDocuments":
    case "InspectDocuments":
    case "DumpDocuments":
      text = "{}";
      break;
    case "WatchDocument":
      text = `{"${name}":"${id}","count":${random.below(4)}}`;
      break;
    case "UpdateDocument":
      text = random.chance(20)
        ? `{"${name}":"open","documentId":"${id}"}`
        : `{"${name}":"${id}","text":"x"}`;
      break;
    case "GetNotice":
      text = '{"noticeId":"n"}';
      break;
    case "Reconcile":
    case "Reset":
      text = '{"reason":"n"}';
      break;
    case "UploadDocument":
      text = '{"chunk":"bg=="}';
      break;
    case "SearchDocuments":
    case "Converse":
      text = '{"text":"n"}';
      break;
    default:
      text = `{"${name}":"${id}"}`;
  }
  if (random.chance(25)) text = mutateText(random, text, BODY_PIECES);
  return Buffer.from(text, "latin1");
}

/** A message of an RPC, in the binary encoding. */
export function messageOf(random: Random, rpc: string): Buffer {
  const text = (field: number, value: string) =>
    Buffer.concat([Buffer.from([(field << 3) | 2, value.length]), Buffer.from(value, "latin1")]);
  const id = random.chance(75)
    ? "open"
    : random.pick(["closed", "", "*", "open#viewer", "\xff", "document:open", " open", "Open"]);
  switch (rpc) {
    case "GetProfile":
    case "ListDocuments":
    case "InspectDocuments":
    case "DumpDocuments":
      return Buffer.alloc(0);
    case "WatchDocument":
      return Buffer.concat([text(1, id), Buffer.from([0x10, random.below(4)])]);
    case "UpdateDocument":
      return random.chance(20)
        ? Buffer.concat([text(1, "open"), text(2, "x"), text(1, id)])
        : Buffer.concat([text(1, id), text(2, "x")]);
    case "GetNotice":
    case "SearchDocuments":
    case "Reconcile":
    case "Reset":
    case "UploadDocument":
    case "Converse":
      return text(1, "n");
    default:
      return text(1, id);
  }
}

/** A message with some changed bytes, or truncated. */
export function changed(random: Random, message: Buffer): Buffer {
  const copy = Buffer.concat([message, Buffer.alloc(random.below(4))]);
  for (let count = 1 + random.below(3); count > 0 && copy.length > 0; count--) {
    copy[random.below(copy.length)] = random.below(256);
  }
  return copy.subarray(0, random.below(copy.length + 1));
}
