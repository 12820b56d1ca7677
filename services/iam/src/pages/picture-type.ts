const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** The media type of a picture that pages can show, by its content; undefined of all else. */
export function pictureType(content: Buffer): string | undefined {
  const begins = content.toString("latin1", 0, 16);
  // The first part of a PNG is its header.
  if (/^\x89PNG\r\n\x1a\n[\s\S]{4}IHDR/.test(begins)) return "image/png";
  if (begins.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^RIFF[\s\S]{4}WEBP/.test(begins)) return "image/webp";
  const text = xmlText(content);
  // Without its namespace, browsers show nothing; a document type may name it as an entity.
  return isSvg(text) && text.includes(SVG_NAMESPACE) ? "image/svg+xml" : undefined;
}

/** XML says by its first bytes how it is encoded; all that counts here is ASCII. */
function xmlText(content: Buffer): string {
  const [one, other] = content;
  if (one === 0xff && other === 0xfe) return content.toString("utf16le", 2);
  if (one === 0xfe && other === 0xff) {
    return Buffer.from(content.subarray(2, content.length & ~1))
      .swap16()
      .toString("utf16le");
  }
  return content.toString("latin1").replace(/^\xef\xbb\xbf/, "");
}

/** How parts end that may come before the root of an XML document. */
const BEFORE_ROOT: readonly (readonly [begin: string, end: string])[] = [
  ["<?", "?>"],
  ["<!--", "-->"],
];

/** Whether the root of an XML document is `svg`, with whatever prefix. Each character is looked at once. */
function isSvg(text: string): boolean {
  let at = 0;
  for (;;) {
    while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
    const part = BEFORE_ROOT.find(([begin]) => text.startsWith(begin, at));
    if (part !== undefined) {
      const [begin, end] = part;
      const found = text.indexOf(end, at + begin.length);
      if (found < 0) return false;
      at = found + end.length;
    } else if (text.startsWith("<!DOCTYPE", at)) {
      const end = endOfDoctype(text, at);
      if (end < 0) return false;
      at = end;
    } else {
      return /^<(?:[A-Za-z_][\w.-]{0,63}:)?svg[\s/>]/.test(text.slice(at, at + 80));
    }
  }
}

/** Where a document type ends, which may have declarations in brackets; -1 if it does not. */
function endOfDoctype(text: string, at: number): number {
  const close = text.indexOf(">", at);
  const open = text.indexOf("[", at);
  if (close < 0) return -1;
  if (open < 0 || open > close) return close + 1;
  const end = /\]\s*>/g;
  end.lastIndex = open;
  return end.exec(text) === null ? -1 : end.lastIndex;
}
