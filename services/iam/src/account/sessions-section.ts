import { formToken, problemBox } from "../pages/form-parts.ts";
import { type Html, html, isolated } from "../pages/html.ts";
import type { MessageKey, Texts } from "../pages/texts.ts";
import type { LoginSession } from "../people/sessions/login-session.ts";
import type { UserSessions } from "../people/sessions/user-sessions.ts";
import type {
  AccountSection,
  AccountVisit,
  SectionForms,
  SectionResult,
} from "./account-section.ts";
import { deviceName } from "./device-name.ts";

/** More are not shown; all of them can be ended at once. */
const MOST = 100;

/** The sessions of somebody, who may end them. */
export class SessionsSection implements AccountSection {
  readonly name = "sessions";
  readonly title = "Sessions";
  readonly messages: Readonly<Record<string, MessageKey>> = {
    ended: "The session has ended.",
    all: "All your other sessions have ended.",
  };
  readonly #sessions: UserSessions;

  constructor(sessions: UserSessions) {
    this.#sessions = sessions;
  }

  async showAgain(
    visit: AccountVisit,
    _form: URLSearchParams,
    problem: MessageKey,
  ): Promise<SectionForms> {
    return this.show(visit, problem);
  }

  async show(visit: AccountVisit, problem?: MessageKey): Promise<SectionForms> {
    const { account, visitor, token } = visit;
    const found = await this.#sessions.list(account.id);
    const others = found.filter(({ id }) => id !== visitor.sessionId);
    return {
      body: (texts: Texts) => html`${problemBox(problem && texts.say(problem))}
<p>${texts.say("You are logged in in these browsers and on these devices.")}</p>
<ul class="list">
${found.slice(0, MOST).map((one) => this.#item(texts, one, visit))}
</ul>
${
  others.length === 0
    ? undefined
    : html`<form method="post">
${formToken(token)}
<button class="danger" type="submit" name="action" value="all">${texts.say("End all other sessions")}</button>
</form>`
}`,
    };
  }

  async act(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    const { account, visitor, call } = visit;
    if (form.get("action") === "all") {
      await this.#sessions.endAll(account.id, call, visitor.sessionId);
      return { done: "all" };
    }
    // One that has ended meanwhile has ended.
    await this.#sessions.end(form.get("session") ?? "", account.id, call);
    return { done: "ended" };
  }

  #item(texts: Texts, session: LoginSession, { visitor, timeZone, token }: AccountVisit): Html {
    const { say, date } = texts;
    const { id, kind, clients, userAgent, address, seenTime, createTime } = session;
    const names = clients
      .map(({ clientId }) => this.#sessions.clientName(clientId))
      .filter((name) => name !== "");
    const heading = `session-${id}`;
    const known = deviceName(userAgent);
    const device = known
      ? say("{browser} on {system}", { ...known })
      : userAgent
        ? isolated(userAgent)
        : say("unknown");
    return html`<li>
<p id="${heading}"><strong>${say(kind === "device" ? "Device" : "Browser")}</strong>${
      id === visitor.sessionId ? html` (${say("this one")})` : undefined
    }<br><span class="quiet">${device}</span></p>
<p class="quiet" id="${heading}-use">${say("Last used {time}, from {address}", { time: date(seenTime, timeZone), address })}<br>
${say("Since {time}", { time: date(createTime, timeZone) })}${names.length === 0 ? undefined : html`<br>${[...new Set(names)].map((name, index) => html`${index === 0 ? "" : ", "}${isolated(name)}`)}`}</p>
<form method="post">
${formToken(token)}
<button class="danger" type="submit" name="session" value="${id}" aria-describedby="${heading} ${heading}-use">${say("End the session")}</button>
</form>
</li>`;
  }
}
