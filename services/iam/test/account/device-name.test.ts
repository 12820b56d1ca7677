import { expect, test } from "vitest";
import { deviceName } from "../../src/account/device-name.ts";

const MOZILLA = "Mozilla/5.0";
const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

test.each<[userAgent: string, name: string | undefined]>([
  ["", undefined],
  ["curl/8.5.0", undefined],
  ["<script>Chrome/1 Linux</script>x", "Chrome on Linux"],
  [`${MOZILLA} (X11; Linux x86_64) ${WEBKIT}`, undefined],
  [
    `${MOZILLA} (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/156.0.0.0 Safari/537.36`,
    "Chrome on Linux",
  ],
  [
    `${MOZILLA} (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/156.0 Safari/537.36`,
    "Chrome on ChromeOS",
  ],
  [
    `${MOZILLA} (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/156.0 Safari/537.36 Edg/156.0`,
    "Edge on Windows",
  ],
  [
    `${MOZILLA} (Windows NT 10.0) ${WEBKIT} Chrome/156.0 Safari/537.36 OPR/120.0`,
    "Opera on Windows",
  ],
  [`${MOZILLA} (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0`, "Firefox on Windows"],
  [
    `${MOZILLA} (Linux; Android 15; SM-S921B) ${WEBKIT} SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36`,
    "Samsung Internet on Android",
  ],
  [
    `${MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15`,
    "Safari on macOS",
  ],
  [
    `${MOZILLA} (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1`,
    "Safari on iPhone",
  ],
  [
    `${MOZILLA} (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/137.0 Mobile/15E148 Safari/604.1`,
    "Chrome on iPad",
  ],
])("%j is %j", (userAgent, name) => {
  const found = deviceName(userAgent);
  expect(found && `${found.browser} on ${found.system}`).toBe(name);
});
