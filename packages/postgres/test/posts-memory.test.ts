import { type InboundPost, InboundPostStore } from "@wac/core"
import { Fixture } from "@wac/testkit"
import { Effect } from "effect"
import { ask, askOne, property } from "./agreement.ts"

const { day, hour, minute, second } = Fixture

const store = InboundPostStore.InboundPostStore
const providers = ["cloud", "other"]
const problems: ReadonlyArray<InboundPost.Problem> = ["unreadable", "storage", "defect"]

property({ length: 60, checkEvery: 10 }, (random, note) =>
  Effect.sync(() => {
    let now = Date.parse("2026-03-05T12:00:00.000Z")
    const names: Array<InboundPost.PostName> = []
    const claims: Array<InboundPost.PostName & { readonly token: string }> = []
    const some = () => Array.from({ length: 1 + random.below(6) }, (_, i) => i)

    const nameOf = (): InboundPost.PostName => {
      if (names.length > 0 && random.below(4) === 0) return random.pick(names)
      const name = { provider: random.pick(providers), digest: names.length.toString(16).padStart(64, "a") }
      names.push(name)
      return name
    }

    /** One by one, because the first to arrive is the first to be claimed. */
    const keep = Effect.suspend(() =>
      Effect.forEach(some(), () => {
        const command = { ...nameOf(), now, body: new Uint8Array(random.below(60)).fill(names.length) }
        return askOne(store.use(({ keep }) => keep(command)))
      })
    )

    const claim = Effect.gen(function*() {
      const command = {
        now,
        provider: random.pick(providers),
        token: yield* Fixture.word,
        leaseUntil: now + random.pick([second, 30 * second, hour]),
        limit: { posts: random.pick([1, 2, 5, 100]), bytes: random.pick([1, 50, 100, 10_000]) }
      }
      const posts = yield* askOne(store.use(({ claim }) => claim(command)))
      note(`${posts.length} of ${command.provider}`)
      for (const post of posts) claims.push({ ...post, token: command.token })
    })

    /** Claims to end, including ended and lost ones; at most one for each post. */
    const pickClaims = () =>
      [...new Map(random.shuffle(claims.slice(-16)).map((claim) => [claim.provider + claim.digest, claim])).values()]
        .slice(0, 1 + random.below(6))

    const end = Effect.gen(function*() {
      const stranger = yield* Fixture.word
      yield* ask(
        pickClaims().map((claim) => {
          const own = random.below(5) === 0 ? { ...claim, token: stranger } : claim
          const retryAt = now + random.pick([0, second, minute, 10 * minute])
          const problem = random.pick([null, ...problems])
          const released = problem === null
            ? { ...own, now, problem, retryAt }
            : { ...own, now, problem, retryAt: random.pick([retryAt, retryAt, null]) }
          return random.below(2) === 0
            ? store.use(({ complete }) => complete({ ...own, now }))
            : store.use(({ release }) => release(released))
        })
      )
    })

    /** Which expired posts are deleted first is not defined. */
    const sweep = Effect.suspend(() => {
      const limit = random.pick([1, 3, 100])
      return askOne(Effect.gen(function*() {
        const { sweep } = yield* store
        const counts: Array<number> = []
        while (counts.at(-1) !== 0) counts.push(yield* sweep(now, limit))
        return counts
      }))
    })

    const wait = Effect.sync(() => {
      now += random.pick([1, second, second, minute, 10 * minute, hour, day, 8 * day])
    })

    const steps: ReadonlyArray<
      readonly [string, typeof keep | typeof claim | typeof end | typeof sweep | typeof wait]
    > = [
      ["keep", keep],
      ["keep", keep],
      ["claim", claim],
      ["claim", claim],
      ["end", end],
      ["end", end],
      ["end", end],
      ["sweep", sweep],
      ["wait", wait],
      ["wait", wait]
    ]
    return { steps, check: askOne(store.use(({ backlog }) => backlog)) }
  }))
