/**
 * The webhooks of the simulated Cloud API: it verifies a callback URL, collects updates into posts, signs them, and
 * retries each post until it is answered with 200 or 7 days have passed.
 */
import { Clock, Effect, FiberSet, type Scope, Semaphore } from "effect"
import { createHmac } from "node:crypto"
import * as Wire from "../CloudApiWire.ts"
import type { Dice } from "../control/CloudApiDice.ts"
import type { Settings } from "../control/CloudApiSettings.ts"
import * as Updates from "./CloudApiUpdates.ts"

/** One attempt to post. */
export interface Attempt {
  /** The numbers of the post and of the attempt, both from 1. */
  readonly post: number
  readonly attempt: number
  readonly at: number
  readonly updates: number
  readonly body: string
  /** The status of the response, or a description of why there was none. */
  readonly outcome: number | string
}

/** The result of a verification. */
export interface Handshake {
  readonly subscribed: boolean
  /** The response. */
  readonly status: number | undefined
  readonly problem: string | undefined
}

export interface Courier {
  /** Verifies this URL by a challenge, and posts to it from then on if the response is right. */
  readonly subscribe: (url: string, verifyToken: string) => Effect.Effect<Handshake>
  /** Posts to this URL from now on, without verification. */
  readonly post: (url: string) => void
  /** Posts an update according to the settings. */
  readonly tell: (update: Updates.Update) => void
  /** Posts this update alone and immediately. Completes with the first attempt. */
  readonly tellNow: (update: Updates.Update) => Effect.Effect<void>
  /** Posts this body unchanged, once, with any signature. */
  readonly deliver: (body: Uint8Array, signature: string | undefined) => Effect.Effect<Attempt>
  /** Posts the bodies of these posts again, once each, in this order; by default all. */
  readonly redeliver: (posts?: ReadonlyArray<number>) => Effect.Effect<void>
  /** Signs the raw bytes. Source: github.com/yvfl/api-whatsapp-docs, docs/webhooks/create_webhook_endpoint.md. */
  readonly sign: (body: Uint8Array) => string
  /** The latest updates, oldest first. */
  readonly told: () => ReadonlyArray<Updates.Update>
  /** The latest attempts, oldest first. */
  readonly attempts: () => ReadonlyArray<Attempt>
  /** Waits until no post is in flight or about to start. Does not wait for delayed posts and retries. */
  readonly settled: Effect.Effect<void>
}

/** The result of a post without a callback URL. It is not retried. */
const nobody = "nobody has subscribed"
/** How long posts are retried. Source: github.com/yvfl/api-whatsapp-docs, docs/webhooks/visao_geral/overview.md. */
const lasting = 7 * 24 * 3600 * 1000
/** The number of attempts and posts that are kept. */
const kept = 20_000

/** Posts until the scope closes. Posts that still wait then are lost. */
export const make = Effect.fnUntraced(function*(
  settings: () => Settings,
  dice: Dice,
  appSecret: string
): Effect.fn.Return<Courier, never, Scope.Scope> {
  const run = yield* FiberSet.makeRuntime<never, void, never>()
  const places = yield* Semaphore.make(settings().lanes)
  const request = yield* Wire.make

  let callback: URL | undefined
  let gathering = false
  let outbox: Array<Updates.Update> = []
  let posts = 0
  let busy = 0
  let waiting: Array<() => void> = []
  const updates: Array<Updates.Update> = []
  const attempts: Array<Attempt> = []
  const bodies = new Map<number, { readonly body: Uint8Array; readonly updates: number }>()

  const sign = (body: Uint8Array) => `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`
  const quiet = () => busy === 0 && outbox.length === 0
  const end = () => {
    busy--
    if (!quiet()) return
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }
  const whileBusy = <A>(effect: Effect.Effect<A>) =>
    Effect.acquireUseRelease(Effect.sync(() => void busy++), () => effect, () => Effect.sync(end))

  const laned = <A>(effect: Effect.Effect<A>) =>
    Effect.andThen(Effect.suspend(() => places.resize(settings().lanes)), places.withPermit(effect))

  const attempt = (
    post: number,
    number: number,
    body: Uint8Array,
    count: number,
    signature: string | undefined
  ): Effect.Effect<Attempt> =>
    Effect.gen(function*() {
      const at = yield* Clock.currentTimeMillis
      const outcome = callback === undefined
        ? nobody
        : yield* request(
          "POST",
          callback,
          {
            "content-type": "application/json",
            "content-length": body.byteLength,
            "user-agent": "facebookexternalua",
            ...(signature === undefined ? {} : { "x-hub-signature-256": signature })
          },
          body
        ).pipe(
          Effect.match({ onFailure: (problem) => problem, onSuccess: ({ status }) => status })
        )
      const made: Attempt = {
        post,
        attempt: number,
        at,
        updates: count,
        body: Buffer.from(body).toString(),
        outcome
      }
      if (attempts.length >= 2 * kept) attempts.splice(0, kept)
      attempts.push(made)
      return made
    }).pipe(laned, whileBusy)

  const enter = (updates: ReadonlyArray<Updates.Update>, shape: Updates.Shape, at: number) => {
    const post = ++posts
    const body = Updates.encode(Updates.envelope(updates, shape, at))
    bodies.set(post, { body, updates: updates.length })
    if (bodies.size > kept) bodies.delete(post - kept)
    return { post, body, updates: updates.length }
  }

  /** Makes the retries and repetitions after the first attempt of a post. */
  const persist = (
    { body, post, updates }: ReturnType<typeof enter>,
    first: Attempt
  ): Effect.Effect<void> =>
    Effect.gen(function*() {
      let last = first
      while (last.outcome !== 200 && last.outcome !== nobody) {
        const waits = settings().retryAfter
        yield* Effect.sleep(waits[last.attempt - 1] ?? waits.at(-1)!)
        if ((yield* Clock.currentTimeMillis) - first.at > lasting) return
        last = yield* attempt(post, last.attempt + 1, body, updates, sign(body))
      }
      for (const after of settings().repeatAfter) {
        run(
          Effect.sleep(after).pipe(
            Effect.andThen(() => attempt(post, last.attempt + 1, body, updates, sign(body))),
            Effect.asVoid
          )
        )
      }
    })

  const send = (updates: ReadonlyArray<Updates.Update>, shape: Updates.Shape): Effect.Effect<void> =>
    Effect.gen(function*() {
      const entered = enter(updates, shape, yield* Clock.currentTimeMillis)
      const first = yield* attempt(entered.post, 1, entered.body, entered.updates, sign(entered.body))
      run(persist(entered, first))
    })

  /** Posts the gathered updates, in posts of at most `batchMost` updates. */
  const flush = Effect.sync(() => {
    gathering = false
    const random = dice.for("flush", posts)
    const { batchMost, batchShape, jitter } = settings()
    const all = jitter > 0 ? random.shuffle(outbox) : outbox
    outbox = []
    for (let start = 0; start < all.length; start += batchMost) {
      const shape = batchShape === "mixed" ? Updates.anyShape(random) : batchShape
      run(send(all.slice(start, start + batchMost), shape))
    }
  })

  const gather = (update: Updates.Update) => {
    outbox.push(update)
    if (gathering) return
    gathering = true
    const { batchLinger } = settings()
    const linger = batchLinger > 0
      ? Effect.sleep(batchLinger)
      : Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
    run(whileBusy(Effect.andThen(linger, flush)))
  }

  const keep = (update: Updates.Update) => {
    if (updates.length >= 2 * kept) updates.splice(0, kept)
    updates.push(update)
  }

  const tell = (update: Updates.Update) => {
    keep(update)
    const name = Updates.nameOf(update)
    const { duplicates, jitter } = settings()
    const random = dice.for("tell", name)
    const later = () => random.below(jitter + 1)
    for (const delay of dice.hits(duplicates, "duplicate", name) ? [later(), later()] : [later()]) {
      if (delay === 0) gather(update)
      else run(Effect.andThen(Effect.sleep(delay), Effect.sync(() => gather(update))))
    }
  }

  const handshake = (url: URL, verifyToken: string): Effect.Effect<Handshake> => {
    const challenge = String(dice.for("challenge", url.href).below(1_000_000_000) + 1_000_000_000)
    const asked = new URL(url)
    asked.searchParams.set("hub.mode", "subscribe")
    asked.searchParams.set("hub.challenge", challenge)
    asked.searchParams.set("hub.verify_token", verifyToken)
    return request("GET", asked, { "user-agent": "facebookplatform/1.0" }, new Uint8Array()).pipe(
      Effect.match({
        onFailure: (problem): Handshake => ({ subscribed: false, status: undefined, problem }),
        onSuccess: ({ body, status }): Handshake => {
          const problem = status !== 200
            ? `it answered ${status}, not 200`
            : body !== challenge
            ? "it did not answer with the bare challenge"
            : undefined
          return { subscribed: problem === undefined, status, problem }
        }
      })
    )
  }

  return {
    subscribe: (address, verifyToken) =>
      Effect.gen(function*() {
        if (!URL.canParse(address)) return { subscribed: false, status: undefined, problem: "that is no URL" }
        const url = new URL(address)
        const outcome = yield* handshake(url, verifyToken)
        if (outcome.subscribed) callback = url
        return outcome
      }),
    post: (url) => void (callback = new URL(url)),
    tell,
    tellNow: (update) => {
      keep(update)
      return send([update], "value")
    },
    deliver: (body, signature) => Effect.suspend(() => attempt(++posts, 1, body, 1, signature)),
    redeliver: (wanted) =>
      Effect.suspend(() =>
        Effect.forEach(wanted ?? [...bodies.keys()], (post) => {
          const entered = bodies.get(post)
          return entered === undefined
            ? Effect.void
            : attempt(post, 1, entered.body, entered.updates, sign(entered.body))
        }, { discard: true })
      ),
    sign,
    told: () => updates.slice(-kept),
    attempts: () => attempts.slice(-kept),
    settled: Effect.callback<void>((resume) => {
      // a fiber that has just woken up may be about to post an update
      setImmediate(() => {
        if (quiet()) resume(Effect.void)
        else waiting.push(() => resume(Effect.void))
      })
    })
  }
})
