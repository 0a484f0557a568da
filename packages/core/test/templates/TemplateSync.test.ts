import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { WorkspaceId } from "../../src/Id.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import { PhoneNumberStore } from "../../src/numbers/PhoneNumberStore.ts"
import { TemplatesUnavailable } from "../../src/provider/Provider.ts"
import { StoreError } from "../../src/StoreError.ts"
import type { TemplateRequests } from "../../src/templates/TemplateRequests.ts"
import { Templates } from "../../src/templates/Templates.ts"
import { layer as sync } from "../../src/templates/TemplateSync.ts"
import { hour, minute, second } from "../checks.ts"
import { logged } from "../logged.ts"
import { start } from "../samples.ts"
import { foundation, stubProvider, templates, type World, world } from "../world.ts"

/** Two workspaces whose templates are synchronized, and when each was listed, in seconds since the start. */
const looked = <E>(
  test: (given: {
    readonly one: World
    readonly other: World
    readonly provider: ReturnType<typeof stubProvider>
    readonly listings: Map<WorkspaceId, Array<number>>
    /** Whether the storage of numbers is unavailable. */
    readonly isAway: { current: boolean }
    /** Makes a workspace, as another process does. */
    readonly another: Effect.Effect<WorkspaceId>
    /** Runs the runner for this time, which passes. */
    readonly shift: (millis: number) => Effect.Effect<void>
  }) => Effect.Effect<void, E, TemplateRequests | Inbound>,
  isInShifts = false
) =>
() => {
  const provider = stubProvider()
  const services = Layer.merge(Templates.layer, Inbound.layer).pipe(
    Layer.provide(provider.layer),
    Layer.provideMerge(foundation)
  )
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const [one, other] = [yield* world(), yield* world()]
    yield* PhoneNumberStore.use((store) => store.configure(other.number.id, { providerAccountId: "account-2" }))
    const listings = new Map<WorkspaceId, Array<number>>([[one.workspace.id, []], [other.workspace.id, []]])
    provider.listed = ({ workspaceId }, at) => void listings.get(workspaceId)!.push((at - start) / second)
    const store = yield* PhoneNumberStore
    const isAway = { current: false }
    const away = Effect.fail(new StoreError({ operation: "PhoneNumberStore.named" }))
    const named: typeof store.named = (name) => Effect.suspend(() => isAway.current ? away : store.named(name))
    const running = Layer.build(Layer.fresh(sync)).pipe(
      Effect.provideService(PhoneNumberStore, PhoneNumberStore.of({ ...store, named }))
    )
    if (!isInShifts) yield* running
    yield* TestClock.adjust(0)
    const context = yield* Effect.context<Effect.Services<typeof running>>()
    const shift = (millis: number) =>
      running.pipe(
        Effect.andThen(TestClock.adjust(millis)),
        Effect.scoped,
        Effect.provideContext(context)
      )
    const another = Effect.map(world(), ({ workspace: { id } }) => {
      listings.set(id, [])
      return id
    }).pipe(Effect.provideContext(yield* Effect.context<Effect.Services<ReturnType<typeof world>>>()))
    yield* test({ one, other, provider, listings, isAway, another, shift })
  }).pipe(Effect.scoped, Effect.provide(services))
}

const unavailable = new TemplatesUnavailable({ message: "upstream is down" })

describe("the templates of every workspace", () => {
  it.effect(
    "templates are listed at start and every hour",
    looked(({ listings, one, other }) =>
      Effect.gen(function*() {
        yield* TestClock.adjust(2 * hour)
        assert.deepStrictEqual([...listings], [
          [one.workspace.id, [0, 3600, 7200]],
          [other.workspace.id, [0, 3600, 7200]]
        ])
      })
    )
  )

  it.effect(
    "templates are listed once an hour too where the runner runs for seconds of each minute",
    looked(({ listings, one, other, shift }) =>
      Effect.gen(function*() {
        for (let i = 0; i < 65; i++) {
          yield* shift(20 * second)
          yield* TestClock.adjust(40 * second)
        }
        assert.deepStrictEqual([...listings], [
          [one.workspace.id, [0, 3600]],
          [other.workspace.id, [0, 3600]]
        ])
      }), true)
  )

  it.effect(
    "a listing that the end of a run has broken off begins again with the next run",
    looked(({ listings, one, provider, shift }) =>
      Effect.gen(function*() {
        const { templates: given } = provider
        provider.templates = Effect.never
        yield* shift(20 * second)
        provider.templates = given
        yield* shift(20 * second)
        yield* TestClock.adjust(10 * minute)
        yield* shift(20 * second)
        assert.deepStrictEqual(listings.get(one.workspace.id), [0, 20])
      }), true)
  )

  it.effect(
    "the templates of a workspace that another process makes are listed within a minute",
    looked(({ another, listings }) =>
      Effect.gen(function*() {
        yield* TestClock.adjust(10 * minute + second)
        const id = yield* another
        yield* TestClock.adjust(hour + minute)
        assert.deepStrictEqual(listings.get(id), [660, 660 + 3600])
      })
    )
  )

  it.effect(
    "templates are listed soon after a change, at most once a minute, and only for the account's workspaces",
    looked(({ listings, one, other }) =>
      Effect.gen(function*() {
        const { number: { providerAccountId }, workspace } = one
        const tell = Inbound.use((inbound) => inbound.receive([{ _tag: "TemplatesChanged", providerAccountId }]))
        yield* TestClock.adjust(10 * second)
        for (let i = 0; i < 20; i++) yield* tell
        yield* TestClock.adjust(10 * minute)
        for (let i = 0; i < 20; i++) {
          yield* tell
          yield* TestClock.adjust(5 * second)
        }
        yield* TestClock.adjust(10 * minute)
        assert.deepStrictEqual(listings.get(workspace.id), [0, 60, 610, 670, 730])
        assert.deepStrictEqual(listings.get(other.workspace.id), [0])
      })
    )
  )

  it.effect(
    "templates are listed after a change even if the storage was unavailable just then",
    looked(({ isAway, listings, one }) =>
      Effect.gen(function*() {
        const { number: { providerAccountId }, workspace } = one
        yield* TestClock.adjust(2 * minute)
        isAway.current = true
        yield* Inbound.use((inbound) => inbound.receive([{ _tag: "TemplatesChanged", providerAccountId }]))
        yield* TestClock.adjust(second)
        isAway.current = false
        yield* TestClock.adjust(2 * minute)
        assert.deepStrictEqual(listings.get(workspace.id), [0, 180])
      })
    )
  )

  it.effect(
    "a report about an unknown template causes a listing, and one about a known template does not",
    looked(({ listings, one: { number: { providerAccountId }, workspace } }) =>
      Effect.gen(function*() {
        yield* TestClock.adjust(2 * minute)
        const tell = (name: string) =>
          Inbound.use((inbound) =>
            inbound.receive([{
              _tag: "Template",
              providerAccountId,
              name,
              language: "en_US",
              at: start + minute,
              change: { status: "paused" }
            }])
          )
        yield* tell("plain")
        yield* TestClock.adjust(minute)
        assert.deepStrictEqual(listings.get(workspace.id), [0])
        yield* tell("unheard_of")
        yield* TestClock.adjust(minute)
        assert.deepStrictEqual(listings.get(workspace.id), [0, 180])
      })
    )
  )

  it.effect(
    "templates are listed even if another workspace's listing hangs, which is given up after a while",
    looked(({ listings, one, other, provider }) =>
      Effect.gen(function*() {
        provider.templatesOf = ({ workspaceId }) =>
          workspaceId === one.workspace.id ? Effect.never : Effect.succeed(templates)
        yield* TestClock.adjust(hour + 5 * minute + minute)
        assert.deepStrictEqual(listings.get(other.workspace.id), [0, 3600])
        // a minute after it was given up
        assert.deepStrictEqual(listings.get(one.workspace.id), [0, 3600, 3960])
      })
    )
  )

  it.effect(
    "templates are listed even if another workspace's listing has a defect, which is logged without its content",
    () =>
      logged((lines) =>
        looked(({ listings, one, other, provider }) =>
          Effect.gen(function*() {
            provider.templatesOf = ({ workspaceId }) =>
              workspaceId === one.workspace.id ? Effect.die(new TypeError("SECRET")) : Effect.succeed(templates)
            yield* TestClock.adjust(2 * hour)
            assert.deepStrictEqual(listings.get(other.workspace.id), [0, 3600, 7200])
            assert.deepStrictEqual(listings.get(one.workspace.id)!.slice(0, 4), [0, 3600, 3660, 3780])
            const told = lines.filter(({ level }) => level === "Error").map(({ message }) => message)
            assert.include(told[0], one.workspace.id)
            assert.match(told[0]!, /failed unexpectedly: TypeError\n +at /)
            assert.notMatch(JSON.stringify(lines), /SECRET/)
          })
        )()
      )
  )

  it.effect(
    "templates are listed again if they changed during their listing",
    looked(({ listings, one, provider }) =>
      Effect.gen(function*() {
        provider.templates = Effect.delay(Effect.succeed(templates), 90 * second)
        const { number: { providerAccountId }, workspace } = one
        const tell = Inbound.use((inbound) => inbound.receive([{ _tag: "TemplatesChanged", providerAccountId }]))
        yield* TestClock.adjust(10 * minute)
        yield* tell
        yield* TestClock.adjust(10 * second)
        yield* tell
        yield* TestClock.adjust(10 * minute)
        assert.deepStrictEqual(listings.get(workspace.id), [0, 600, 690])
      })
    )
  )

  it.effect(
    "templates are listed again after a failure, with growing delays, and the log names the workspace",
    () =>
      logged((lines) =>
        looked(({ listings, one, other, provider }) =>
          Effect.gen(function*() {
            provider.templates = Effect.fail(unavailable)
            yield* TestClock.adjust(hour)
            // 60, 120, 240, … and at most an hour apart
            yield* TestClock.adjust(4 * hour)
            assert.deepStrictEqual(
              listings.get(one.workspace.id),
              [0, 3600, 3660, 3780, 4020, 4500, 5460, 7380, 10980, 14580]
            )
            provider.templates = Effect.succeed(templates)
            yield* TestClock.adjust(2 * hour)
            assert.deepStrictEqual(listings.get(one.workspace.id)!.slice(-2), [18_180, 21_780])
            const warned = lines.filter(({ level }) => level === "Warn").map(({ message }) => message)
            for (const { workspace } of [one, other]) {
              assert.strictEqual(warned.filter((message) => message.includes(workspace.id)).length, 9)
            }
          })
        )()
      )
  )
})
