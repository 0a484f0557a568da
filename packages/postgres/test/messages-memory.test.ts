/**
 * The same random commands to PostgreSQL and to memory: both must answer alike and hold the same afterwards. Commands
 * come in groups, each of which is one batch, so that those in a batch must see what the others did. A test's name
 * holds its seed; a failure also tells the commands that led to it.
 */
import { assert, layer } from "@effect/vitest"
import {
  ApiKeyStore,
  ContactStore,
  DeliveryStore,
  Errors,
  Event,
  EventStore,
  type Id,
  Limits,
  Message,
  MessageStore,
  WebhookStore,
  WorkspaceStore
} from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Fixture, SeededRandom } from "@wac/testkit"
import { Cause, Context, Effect, Layer, Option, type Scope } from "effect"
import * as PostgresStorage from "../src/PostgresStorage.ts"
import * as Storage from "../src/Storage.ts"
import { databases } from "./servers.ts"

const { day, hour, minute, second } = Fixture

const seeds = Array.from({ length: 30 }, (_, i) => ({ seed: i + 1 }))

/** Groups of commands per seed. */
const length = 80

type Ports = Context.Context<Fixture.Ports>

class Memory extends Context.Service<Memory, Ports>()("test/Memory") {}

const memory = Layer.effect(Memory, Layer.build(MemoryStorage.layer))

/** An answer that can be compared: errors by their fields, classes and words. */
const comparable = (value: unknown): unknown =>
  Errors.isDomainError(value)
    ? { _tag: value._tag, ...value, message: value.message }
    : typeof value === "object" && value !== null && !Option.isOption(value)
    ? Array.isArray(value)
      ? value.map(comparable)
      : Object.fromEntries(Object.entries(value).map(([name, field]) => [name, comparable(field)]))
    : value

/** Limits that are met now and then; `null` and an unknown tier are the defaults. */
const limits: Limits.Limits = {
  workspaceTiers: { narrow: 0.05, wide: 1000 },
  phoneNumberTiers: { narrow: 0.1, wide: 1000 },
  pair: { everySeconds: 60, burst: 6 },
  defaults: { workspaceTier: "wide", phoneNumberTier: "wide", monthlyQuota: 40, messagingLimit: null }
}
const otherLimits: Limits.Limits = { ...limits, defaults: { ...limits.defaults, messagingLimit: 3 } }

const templates = [
  { name: "plain" },
  { name: "order", bodyParams: ["1", "2"] },
  { name: "order", bodyParams: ["1"] },
  { name: "promo", bodyParams: ["“x”"] },
  { name: "waiting", bodyParams: ["a"] },
  { name: "none" }
]

const run = (seed: number, history: Array<string>) =>
  Effect.gen(function*() {
    const random = SeededRandom.make(seed)
    const here = yield* Effect.context<Fixture.Services | Scope.Scope>()
    const there: Context.Context<Fixture.Services | Scope.Scope> = Context.merge(here, yield* Memory)

    // the same workspaces in both
    const worlds = yield* Effect.replicateEffect(Fixture.world(), 2)
    const copied = Effect.fnUntraced(function*({ key, number, start, workspace }: Fixture.World) {
      yield* WorkspaceStore.WorkspaceStore.use((store) => store.create({ workspace, phoneNumber: number }))
      yield* ApiKeyStore.ApiKeyStore.use((store) =>
        Effect.flatMap(Fixture.word, (word) => store.issue(key, { key: word as never, fingerprint: "one" }))
      )
      const ids = yield* Effect.replicateEffect(Fixture.id("tpl"), Fixture.templates.length)
      return { now: start, workspaceId: workspace.id, listed: Fixture.templates, ids }
    })
    for (const own of worlds) {
      const templates = yield* Effect.provide(copied(own), there)
      // anew in both, for the same identifiers
      yield* both((store) => store.templates.replaceAll({ ...templates, listed: [] }))
      yield* both((store) => store.templates.replaceAll(templates))
    }
  })

export { comparable, day, hour, length, limits, minute, otherLimits, run, second, seeds, templates }
