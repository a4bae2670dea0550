/**
 * A client of the Signal Hub for web pages: one module, no build step.
 *
 *     import { HubClient } from "./wireloom-hub.js";
 *
 *     const hub = new HubClient("wss://hub.example.com/hub", "@(browser/shop)", { token });
 *     await hub.connect();
 *     await hub.register(["shop"]);
 *     await hub.send("@(shop/stock)", "stock:reserve", { item: 7 });
 *     for await (const message of hub.messages()) console.log(message.from, message.payload);
 *
 * A lost connection is opened again by the specification's rules; registrations and subscriptions
 * are made good then. Meanwhile requests wait as long as their time-outs let them; those that were
 * under way fail with a `LostError`.
 */

const VERSION = "0.1.0";
const HUB_ADDRESS = "@(cloudflare/signal-hub)";
const REQUEST_MS = 5_000;
const SEND_MS = 30_000;
const NO_RETURN = new Set(["duplicate_connection", "unauthorized"]);
/** Answers that may come without the id of their request. */
const UNLINKED = new Set(["hub:heartbeat_ack", "hub:broadcast_ack", "hub:published"]);
/** The hub's error types, besides `hub:error`, and the code that each stands for. */
const ERROR_CODES = {
  "hub:unknown_actor": "unknown_actor",
  "hub:unauthorized": "unauthorized",
  "hub:rate_limited": "rate_limited",
  "hub:version_mismatch": "version_mismatch",
  "hub:message_too_large": "message_too_large",
};
/** When something may be sent: while all is well, also before that, also while paused. */
const UP = "up";
const RESTORING = "restoring";
const ALWAYS = "always";
const RETRYABLE = new Set(["rate_limited", "timeout", "internal_error"]);

/** What the hub refuses: `code`, `retryable`, `details`, and the id that it is `about`. */
export class HubError extends Error {
  constructor(code, text, { retryable = RETRYABLE.has(code), details = null, about = null } = {}) {
    super(text);
    this.name = "HubError";
    Object.assign(this, { code, retryable, details, about });
  }
}

/** The connection ended: with the close `code` and the hub's `reason`, as far as they are known. */
export class LostError extends Error {
  constructor(code = null, reason = "") {
    super(`the connection was lost${reason ? `: ${reason}` : ""}`);
    this.name = "LostError";
    Object.assign(this, { code, reason });
  }
}

/** No answer came in time. Whether the request was done is not known. */
export class TimeoutError extends Error {
  constructor(text) {
    super(text);
    this.name = "TimeoutError";
  }
}

/** The hub answered, and nobody can read its answer. Whether the request was done is not known. */
export class UnreadableError extends Error {
  constructor(text) {
    super(text);
    this.name = "UnreadableError";
  }
}

/** The delay in ms before an attempt to reconnect: 1 s to 60 s, twice as long each time, ± 20 %. */
export function backoff(attempt, chance) {
  return Math.min(1_000 * 2 ** attempt, 60_000) * (1 + 0.2 * (2 * chance - 1));
}

/**
 * An actor at a hub. It is an EventTarget: `message` events carry what others send in `detail`,
 * `failure` events what went wrong that nobody waits for, `state` events a word: `connected`,
 * `reconnecting`, `paused`, `resumed`, `closed`.
 */
export class HubClient extends EventTarget {
  #url;
  #token;
  #options;
  #socket = null;
  #state = "new"; // new, opening, up, down, over
  #paused = false;
  #end = null; // why the client will never send again
  #pending = new Map(); // by message id: {answer, resolve, reject}
  #waiting = []; // who waits to be allowed to send
  #readers = new Set(); // the queues of `messages()`
  #registrations = new Map(); // by address: {payload, metadata, token}
  #subscriptions = new Map(); // by id: payload

  /**
   * @param {string} url Where the hub is, `ws://` or `wss://`.
   * @param {string} address Who the client is, `@(…)`.
   * @param {object} [options] `token` that proves it. For tests: `now`, `random`, `sleep`,
   *   `deadAfterMs`, `tries`.
   */
  constructor(url, address, options = {}) {
    super();
    this.#url = url;
    this.address = address;
    this.hub = HUB_ADDRESS;
    /** What the hub said of itself. */
    this.session = null;
    /** How far the hub's clock is ahead, in ms, by the last heartbeat. */
    this.skewMs = null;
    this.#token = options.token ?? null;
    this.#options = {
      now: Date.now,
      random: Math.random,
      sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
      deadAfterMs: 10_000,
      tries: 10,
      ...options,
    };
  }

  /** Connects; one attempt is made. */
  async connect() {
    if (this.#state !== "new") throw new LostError(null, "a client is connected once");
    try {
      await this.#open();
    } catch (error) {
      this.#finish(error);
      throw error;
    }
  }

  /** Says goodbye and ends the connection. */
  close() {
    const socket = this.#socket;
    if (this.#state === "up" && socket.readyState === WebSocket.OPEN) {
      this.#write(this.#message("hub:disconnect", { reason: "client_requested" }));
    }
    this.#finish(new LostError(1000, "the client was closed"), { closed: true });
    socket?.close(1000);
  }

  /** Makes an actor known to the hub, so that messages reach it. */
  async register(
    capabilities,
    { address = this.address, metadata = {}, ttlSeconds, renewOnHeartbeat = true } = {},
  ) {
    const payload = { actorAddress: address, capabilities, metadata };
    if (ttlSeconds !== undefined) payload.ttlSeconds = ttlSeconds;
    const wish = { renewOnHeartbeat };
    const made = await this.ask("hub:register", payload, "hub:registered", { metadata: wish });
    this.#registrations.set(address, { payload, metadata: wish, token: made.renewalToken });
    return made;
  }

  /** Makes the hub forget an actor. */
  async unregister(address = this.address) {
    this.#registrations.delete(address);
    await this.#tell("hub:unregister", { actorAddress: address });
  }

  /** Prolongs a registration of this client. */
  async renew(address = this.address) {
    const kept = this.#registrations.get(address);
    if (!kept) throw new RangeError(`${address} was not registered here`);
    const made = await this.ask("hub:renew", { renewalToken: kept.token }, "hub:renewed");
    kept.token = made.renewalToken;
    return made;
  }

  /** The actors whose addresses match; `*` stands for any characters. */
  discover(pattern = "*", limit = 100) {
    return this.ask("hub:discover", { pattern, limit }, "hub:discovered");
  }

  /** Sends a message to an actor; resolves when the hub has delivered or queued it. */
  send(target, type, payload = null, { ttlMs = SEND_MS, priority, timeoutMs = SEND_MS } = {}) {
    const metadata = { requireAck: true };
    if (priority !== undefined) metadata.priority = priority;
    const body = { targetAddress: target, message: { type, payload } };
    return this.ask("hub:send", body, "hub:delivery_ack", { ttlMs, metadata, timeoutMs });
  }

  /** Sends a message to an actor without waiting for the hub; resolves to its id. */
  tell(target, type, payload = null, { ttlMs = SEND_MS } = {}) {
    const body = { targetAddress: target, message: { type, payload } };
    return this.#tell("hub:send", body, { ttlMs });
  }

  /** Sends a message to all registered actors, or to those with a capability. */
  broadcast(type, payload = null, { excludeSelf = true, capability } = {}) {
    const metadata = capability === undefined ? {} : { targetCapability: capability };
    const body = { message: { type, payload }, excludeSelf };
    const how = { pattern: "tell", metadata };
    return this.ask("hub:broadcast", body, "hub:broadcast_ack", how);
  }

  /** Sends a message to the subscribers of a topic. */
  publish(topic, type, payload = null) {
    const body = { topic, message: { type, payload } };
    return this.ask("hub:publish", body, "hub:published", { pattern: "tell" });
  }

  /** Asks for the messages of a topic; `durable` ones the hub keeps while the client is away. */
  async subscribe(topic, { durable = false } = {}) {
    const payload = { topic, durable };
    const made = await this.ask("hub:subscribe", payload, "hub:subscribed");
    this.#subscriptions.set(made.subscriptionId, payload);
    return made;
  }

  /** Ends a subscription. */
  async unsubscribe(subscriptionId) {
    this.#subscriptions.delete(subscriptionId);
    await this.#tell("hub:unsubscribe", { subscriptionId });
  }

  /** How full the hub's queue is. */
  queueStats() {
    return this.ask("hub:queue_stats", {}, "hub:queue_stats_response");
  }

  /** What others send from now on; the iteration ends when the client is closed. */
  messages() {
    const queue = new Queue(() => this.#readers.delete(queue));
    if (this.#state === "over") queue.end(this.#end?.closed ? null : this.#end?.error);
    else this.#readers.add(queue);
    return queue;
  }

  /**
   * Sends any request of the protocol; resolves to the payload of its answer.
   *
   * @param {string} type The request's type.
   * @param {object} payload Its payload.
   * @param {string} answer The answer's type.
   * @param {object} [how] `pattern`, `metadata`, `ttlMs`, `timeoutMs`.
   */
  ask(type, payload, answer, how = {}) {
    return this.#ask(type, payload, answer, how, UP);
  }

  async #ask(type, payload, answer, { timeoutMs = REQUEST_MS, ...rest }, when) {
    const id = newId();
    const waiter = {};
    let timer;
    const late = new Promise((_, reject) => {
      const text = `no answer to ${type} came within ${timeoutMs} ms`;
      timer = setTimeout(() => reject(new TimeoutError(text)), timeoutMs);
    });
    try {
      await Promise.race([this.#allowed(waiter, when), late]);
      const heard = new Promise((resolve, reject) => {
        this.#pending.set(id, { answer, resolve, reject });
      });
      this.#write(this.#message(type, payload, { id, pattern: "ask", ...rest }));
      return await Promise.race([heard, late]);
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
      this.#waiting = this.#waiting.filter((one) => one !== waiter);
    }
  }

  async #tell(type, payload, how = {}) {
    const id = newId();
    const waiter = {};
    try {
      await within(this.#allowed(waiter, UP), REQUEST_MS, "nothing can be sent now");
    } finally {
      this.#waiting = this.#waiting.filter((one) => one !== waiter);
    }
    this.#write(this.#message(type, payload, { id, ...how }));
    return id;
  }

  /** Resolves when the client may send; rejects when it never may again. */
  async #allowed(waiter, when) {
    const may = () =>
      when === ALWAYS || (!this.#paused && (when === RESTORING || this.#state === "up"));
    while (!this.#end && !may()) {
      await new Promise((done) => {
        waiter.go = done;
        this.#waiting.push(waiter);
      });
    }
    if (this.#end) throw this.#end.error;
  }

  #wake() {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const waiter of waiting) waiter.go();
  }

  #message(
    type,
    payload,
    { id = newId(), pattern = "tell", metadata = {}, ttlMs = REQUEST_MS } = {},
  ) {
    return {
      type,
      id,
      from: this.address,
      to: this.hub,
      pattern,
      correlationId: null,
      timestamp: this.#options.now(),
      payload,
      metadata,
      ttl: ttlMs,
      signature: null,
    };
  }

  #write(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) throw new LostError();
    this.#socket.send(JSON.stringify(message));
  }

  /** Opens a connection and a session on it. */
  async #open() {
    this.#state = "opening";
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    const greeted = new Promise((resolve, reject) => {
      socket.onopen = () => this.#greet().then(resolve, reject);
      socket.onclose = (event) => reject(new LostError(event.code, event.reason));
    });
    let goodbye = null;
    socket.onmessage = (event) => {
      goodbye = this.#hear(event.data) ?? goodbye;
    };
    try {
      await within(greeted, REQUEST_MS, `${this.#url} does not answer`);
    } catch (error) {
      socket.onclose = null;
      socket.close();
      this.#failAll(error);
      throw goodbye ?? error;
    }
    socket.onclose = (event) => {
      if (this.#socket === socket) this.#lose(goodbye ?? new LostError(event.code, event.reason));
    };
    if (this.#end) {
      socket.close(1000);
      throw this.#end.error;
    }
    this.#state = "down"; // until what the last connection had is made good
    await this.#restore(socket);
    if (this.#socket !== socket || this.#end) return;
    this.#state = "up";
    this.#announce("state", "connected");
    this.#wake();
    this.#beat(socket);
  }

  async #greet() {
    const metadata = { protocolVersion: VERSION, capabilities: ["send", "receive"] };
    if (this.#token !== null) metadata.authToken = this.#token;
    const id = newId();
    const answered = new Promise((resolve, reject) => {
      const keep = (message) => resolve(message);
      this.#pending.set(id, { answer: "hub:connected", resolve, reject, keep });
    });
    this.#write(this.#message("hub:connect", null, { id, pattern: "ask", metadata }));
    const message = await answered.finally(() => this.#pending.delete(id));
    this.session = message.payload;
    this.hub = message.from;
    this.address = message.metadata?.actorIdentity ?? this.address;
  }

  /** Takes a frame; gives a LostError if it says that the connection ends. */
  #hear(text) {
    const message = parsed(text);
    if (message === null) {
      this.#miss(String(text), new UnreadableError("the hub sent no message"));
    } else if (message.type === "hub:pause" || message.type === "hub:resume") {
      this.#paused = message.type === "hub:pause";
      this.#announce("state", this.#paused ? "paused" : "resumed");
      if (!this.#paused) this.#wake();
    } else if (message.type === "hub:disconnect") {
      const lost = new LostError(null, message.payload?.reason ?? "");
      this.#socket.close(1000);
      return lost;
    } else if (message.type.startsWith("hub:")) {
      this.#answer(message);
    } else {
      this.#announce("message", message);
      for (const queue of this.#readers) queue.put(message);
    }
    return null;
  }

  /** Tells of a frame that cannot be read those whose ids stand in it, or else all who wait. */
  #miss(text, error) {
    const named = [...this.#pending].filter(([id]) => text.includes(id));
    const concerned = named.length ? named : [...this.#pending];
    for (const [, request] of concerned) request.reject(error);
    if (!concerned.length) this.#announce("failure", error);
  }

  #answer(message) {
    const error = errorOf(message);
    const request = this.#pending.get(message.correlationId) ?? this.#oldest(message);
    if (!request) {
      if (error) this.#announce("failure", error);
    } else if (error) {
      request.reject(error);
    } else if (message.type !== request.answer) {
      request.reject(new UnreadableError(`the hub answers with ${message.type}`));
    } else if (!isObject(message.payload)) {
      request.reject(new UnreadableError(`the hub answers with a ${message.type} that is none`));
    } else {
      (request.keep ?? ((one) => request.resolve(one.payload)))(message);
    }
  }

  /** The first request that waits for an answer which does not name it. */
  #oldest(message) {
    if (message.correlationId || !UNLINKED.has(message.type)) return undefined;
    return [...this.#pending.values()].find((one) => one.answer === message.type);
  }

  /** Sends heartbeats as long as a connection lasts, and ends it when they stay unanswered. */
  async #beat(socket) {
    const { now, sleep, deadAfterMs } = this.#options;
    for (;;) {
      await sleep(this.session.heartbeatInterval);
      if (this.#socket !== socket || this.#end) return;
      const how = { pattern: "tell", timeoutMs: deadAfterMs, ttlMs: 10_000 };
      const clock = { timestamp: now() };
      try {
        const ack = await this.#ask("hub:heartbeat", clock, "hub:heartbeat_ack", how, ALWAYS);
        this.skewMs = ack.serverTime - ack.timestamp;
      } catch (error) {
        if (!(error instanceof TimeoutError)) continue; // an answer, too
        if (this.#socket === socket) {
          socket.onclose = null;
          socket.close();
          this.#lose(new LostError(null, "heartbeats stay without answer"));
        }
        return;
      }
    }
  }

  /** The connection is gone: fails what was under way, and comes back if that makes sense. */
  #lose(error) {
    if (this.#end) return;
    this.#state = "down";
    this.#paused = false;
    this.#socket = null;
    this.#failAll(error);
    this.#again(error).catch((failed) => this.#finish(failed));
  }

  async #again(error) {
    const { random, sleep, tries } = this.#options;
    for (let attempt = 0; attempt < tries && !isFinal(error); attempt++) {
      this.#announce("state", "reconnecting");
      await sleep(backoff(attempt, random()));
      if (this.#end) return;
      try {
        await this.#open();
        return;
      } catch (failed) {
        if (this.#end) return;
        error = failed;
      }
    }
    throw error;
  }

  /** Makes registrations and subscriptions good on a new connection; gives up waiting in time. */
  async #restore(socket) {
    const acts = [
      ...[...this.#registrations.values()].map((kept) => () => this.#renewed(kept)),
      ...[...this.#subscriptions.values()].map(
        (kept) => () => this.#ask("hub:subscribe", kept, "hub:subscribed", {}, RESTORING),
      ),
    ];
    const all = Promise.all(acts.map((act) => this.#insist(socket, act)));
    await within(all, REQUEST_MS, "").catch(() => {});
  }

  /** Does one thing; the hub's limits may put that off, another refusal is told. */
  async #insist(socket, act) {
    while (this.#socket === socket) {
      try {
        await act();
        return;
      } catch (error) {
        if (error.code !== "rate_limited") {
          this.#announce("failure", error);
          return;
        }
        await this.#options.sleep(error.details?.retryAfter ?? 1_000);
      }
    }
  }

  async #renewed(kept) {
    const { payload, metadata, token } = kept;
    let made;
    try {
      made = await this.#ask("hub:renew", { renewalToken: token }, "hub:renewed", {}, RESTORING);
    } catch (error) {
      if (error.code !== "unauthorized") throw error;
      const how = { metadata };
      made = await this.#ask("hub:register", payload, "hub:registered", how, RESTORING);
    }
    kept.token = made.renewalToken;
  }

  #failAll(error) {
    for (const request of this.#pending.values()) request.reject(error);
  }

  #finish(error, { closed = false } = {}) {
    if (this.#end) return;
    this.#end = { error, closed };
    this.#state = "over";
    this.#socket = null;
    this.#failAll(error);
    this.#wake();
    for (const queue of this.#readers) queue.end(closed ? null : error);
    this.#announce("state", "closed");
  }

  #announce(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** Messages that came and were not yet read, as an asynchronous iterator. */
class Queue {
  #items = [];
  #readers = [];
  #over = null;
  #leave;

  constructor(leave) {
    this.#leave = leave;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  put(item) {
    const reader = this.#readers.shift();
    if (reader) reader.resolve({ value: item, done: false });
    else this.#items.push(item);
  }

  end(error = null) {
    this.#over = { error };
    for (const reader of this.#readers.splice(0)) {
      if (error) reader.reject(error);
      else reader.resolve({ value: undefined, done: true });
    }
  }

  async next() {
    if (this.#items.length) return { value: this.#items.shift(), done: false };
    if (this.#over?.error) throw this.#over.error;
    if (this.#over) return { value: undefined, done: true };
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  async return() {
    this.#leave();
    this.end();
    return { value: undefined, done: true };
  }
}

function isObject(value) {
  return typeof value === "object" && value !== null;
}

/** The message in a frame; null if there is none. */
function parsed(text) {
  try {
    const message = JSON.parse(text);
    return isObject(message) && typeof message.type === "string" ? message : null;
  } catch {
    return null;
  }
}

/** What went wrong, if a message says that something did. */
function errorOf({ type, payload, correlationId: about }) {
  if (!isObject(payload)) {
    const isError = type === "hub:error" || type in ERROR_CODES;
    return isError ? new UnreadableError(`the hub answers with a ${type} that is none`) : null;
  }
  if (type === "hub:error") {
    const { code, message, retryable, details } = payload;
    return new HubError(code, message, { retryable, details, about });
  }
  const code = ERROR_CODES[type];
  if (!code) return null;
  const text = payload.message ?? payload.reason ?? code;
  return new HubError(code, text, { details: payload, about });
}

/** Whether the specification forbids to connect again. */
function isFinal(error) {
  return (
    (error instanceof HubError && ["unauthorized", "version_mismatch"].includes(error.code)) ||
    (error instanceof LostError && NO_RETURN.has(error.reason))
  );
}

/** A random UUID; `crypto.randomUUID` is not there on pages without TLS. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((one) => one.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** What a promise resolves to, if it does in time. */
function within(promise, ms, text) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(text)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
