import type { DevTools, Message } from "../dev-tools.ts";
import type { Chromium, Profile } from "./chromium.ts";

/** What somebody looks at pages with. */
export interface Device {
  /** In CSS pixels. */
  readonly width: number;
  readonly scheme: "light" | "dark";
}

const KEY_CODES = { Tab: 9, Enter: 13 };

/** A tab of a Chromium, as a person uses it. */
export class Tab {
  readonly #tools: DevTools;
  readonly #session: string;

  private constructor(tools: DevTools, session: string) {
    this.#tools = tools;
    this.#session = session;
  }

  /** @param profile of which its cookies and storage are; the browser's own if absent */
  static async open(browser: Chromium, profile?: Profile): Promise<Tab> {
    const { devTools } = browser;
    const page = { url: "about:blank", ...profile };
    const { targetId } = await devTools.send("Target.createTarget", page);
    const attach = { targetId, flatten: true };
    const { sessionId } = await devTools.send("Target.attachToTarget", attach);
    await devTools.send("Page.enable", {}, sessionId);
    return new Tab(devTools, sessionId);
  }

  /** Opens an address, and waits until its page has loaded. */
  goTo(url: string): Promise<void> {
    return this.#untilLoaded(() => this.#send("Page.navigate", { url }));
  }

  /** Clicks what a selector finds, and waits for the page that it leads to. */
  click(selector: string): Promise<void> {
    return this.#untilLoaded(() => this.evaluate(`${found(selector)}.click()`));
  }

  /** Enters a text into the field that a selector finds, in place of what it has. */
  async enter(selector: string, text: string): Promise<void> {
    await this.evaluate(`${found(selector)}.focus(), ${found(selector)}.select()`);
    await this.#send("Input.insertText", { text });
  }

  /** Enters a text where the focus is, as by a keyboard. */
  async type(text: string): Promise<void> {
    await this.#send("Input.insertText", { text });
  }

  /** Presses a key, as by a keyboard. */
  async press(key: "Tab" | "Enter"): Promise<void> {
    const about = { key, code: key, windowsVirtualKeyCode: KEY_CODES[key] };
    const text = key === "Enter" ? { text: "\r" } : {};
    await this.#send("Input.dispatchKeyEvent", { type: "keyDown", ...about, ...text });
    await this.#send("Input.dispatchKeyEvent", { type: "keyUp", ...about });
  }

  /** Presses Enter, and waits for the page that it leads to. */
  enterAndLoad(): Promise<void> {
    return this.#untilLoaded(() => this.press("Enter"));
  }

  /**
   * Goes back in the history, as with the button.
   *
   * @returns false at its begin
   */
  async back(): Promise<boolean> {
    const { currentIndex, entries } = await this.#send("Page.getNavigationHistory");
    const entry = entries[currentIndex - 1];
    if (entry === undefined || entry.url === "about:blank") return false;
    // A page that was frozen is shown again without being loaded.
    const shown = this.#tools.next(this.#session, "Page.frameNavigated", isRestored);
    const loaded = this.#tools.next(this.#session, "Page.loadEventFired");
    await this.#send("Page.navigateToHistoryEntry", { entryId: entry.id });
    await Promise.race([shown, loaded]);
    return true;
  }

  /** Waits until the page that was shown last has led by itself to an address, whatever its query. */
  async untilAt(address: string): Promise<void> {
    const isThere = `document.readyState === "complete" && location.href.split("?")[0] === ${JSON.stringify(address)}`;
    for (;;) {
      const loaded = this.#tools.next(this.#session, "Page.loadEventFired");
      // A page that is just left cannot be asked.
      if (await this.evaluate<boolean>(isThere).catch(() => false)) return;
      await loaded;
    }
  }

  /** The address of the page. */
  url(): Promise<string> {
    return this.evaluate("location.href");
  }

  /** The text of the page, as a person sees it. */
  text(): Promise<string> {
    return this.evaluate("document.body.innerText");
  }

  /** The value of an expression in the page. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const options = { expression, returnByValue: true, userGesture: true, awaitPromise: true };
    const { result, exceptionDetails } = await this.#send("Runtime.evaluate", options);
    if (exceptionDetails !== undefined) {
      throw new Error(`${expression}: ${exceptionDetails["exception"]?.description}`);
    }
    return result.value as Value;
  }

  /** Shows pages as on a device. @param device the width in CSS pixels, and the color scheme */
  async show({ width, scheme }: Device): Promise<void> {
    const metrics = { width, height: 800, deviceScaleFactor: 1, mobile: false };
    await this.#send("Emulation.setDeviceMetricsOverride", metrics);
    const features = [{ name: "prefers-color-scheme", value: scheme }];
    await this.#send("Emulation.setEmulatedMedia", { features });
  }

  /** Lets pages run scripts, or not, from the next one on. */
  async allowScripts(allowed: boolean): Promise<void> {
    await this.#send("Emulation.setScriptExecutionDisabled", { value: !allowed });
  }

  /** A picture of the whole page, as PNG. */
  async picture(): Promise<Buffer> {
    const options = { format: "png", captureBeyondViewport: true };
    const { data } = await this.#send("Page.captureScreenshot", options);
    return Buffer.from(data, "base64");
  }

  /** An authenticator for passkeys, whose person always agrees. */
  async addAuthenticator(): Promise<void> {
    await this.#send("WebAuthn.enable");
    const options = {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    };
    await this.#send("WebAuthn.addVirtualAuthenticator", { options });
  }

  async #untilLoaded(act: () => Promise<unknown>): Promise<void> {
    const loaded = this.#tools.next(this.#session, "Page.loadEventFired");
    await act();
    await loaded;
  }

  #send(method: string, params: Message = {}): Promise<Message> {
    return this.#tools.send(method, params, this.#session);
  }
}

const isRestored = ({ type }: Message) => type === "BackForwardCacheRestore";

function found(selector: string): string {
  return `document.querySelector(${JSON.stringify(selector)})`;
}
