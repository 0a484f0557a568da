import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import type { WorkspaceId } from "../../src/Id.ts"
import * as Limits from "../../src/limits/Limits.ts"
import * as PhoneNumber from "../../src/numbers/PhoneNumber.ts"
import { layerEnsured, PhoneNumbers, stateOf } from "../../src/numbers/PhoneNumbers.ts"
import { PhoneNumberStore } from "../../src/numbers/PhoneNumberStore.ts"
import * as SenderBlock from "../../src/numbers/SenderBlock.ts"
import { Chores } from "../../src/provider/Chores.ts"
import { ProviderError, TemplatesUnavailable } from "../../src/provider/Provider.ts"
import { Readiness } from "../../src/Readiness.ts"
import { Templates } from "../../src/templates/Templates.ts"
import { TemplateStore } from "../../src/templates/TemplateStore.ts"
import { hour, minute, second } from "../checks.ts"
import { logged } from "../logged.ts"
import { sender, start } from "../samples.ts"
import { foundation, newId, stubProvider, world } from "../world.ts"

const detail = { code: "190", message: "Access token expired" }

describe("the state of a number", () => {
  const state = (fields: Parameters<typeof sender>[0], limits = Limits.standard) => {
    const { number: _, ...inForce } = stateOf(limits, sender(fields), start)
    return inForce
  }
  const usual: ReturnType<typeof state> = {
    status: "available",
    tier: "standard",
    messagesPerSecond: 80,
    messagingLimit: null,
    block: null
  }
  const learned = { tier: "high", messagingLimit: 250, quality: null }

  it("the effective value is the operator's setting, else the reported one, else the default", () => {
    assert.deepStrictEqual(state({}), usual)
    assert.deepStrictEqual(state({ learned }), { ...usual, tier: "high", messagesPerSecond: 1000, messagingLimit: 250 })
    assert.deepStrictEqual(state({ learned, tier: "coexistence", messagingLimit: 0 }), {
      ...usual,
      tier: "coexistence",
      messagesPerSecond: 20,
      messagingLimit: 0
    })
    assert.deepStrictEqual(state({ learned: { ...learned, tier: "of another name" } }), {
      ...usual,
      messagingLimit: 250
    })
    const limits = { ...Limits.standard, defaults: { ...Limits.standard.defaults, messagingLimit: 1000 } }
    assert.strictEqual(state({}, limits).messagingLimit, 1000)
    assert.strictEqual(state({ learned }, limits).messagingLimit, 250)
  })

  it("a number that the provider or the operator sets to unlimited has no limit, whatever the default", () => {
    const limits = { ...Limits.standard, defaults: { ...Limits.standard.defaults, messagingLimit: 2000 } }
    const told = (messagingLimit: number | null) => {
      const observed = PhoneNumber.observe(
        { number: sender({ learned }), toldAt: {} },
        { messagingLimit },
        start,
        start
      )
      return stateOf(limits, observed.number, start).messagingLimit
    }
    assert.deepStrictEqual([told(100_000), told(null)], [100_000, null])
    assert.strictEqual(state({ learned, messagingLimit: PhoneNumber.unlimited }, limits).messagingLimit, null)
  })

  it("the status follows a block until it ends, and the operator's switch before it", () => {
    const block = SenderBlock.of("credentials", start, detail)
    assert.deepStrictEqual(state({ block }), { ...usual, status: "blocked", block })
    assert.deepStrictEqual(state({ block: { ...block, until: start } }), usual)
    assert.deepStrictEqual(state({ block, available: false }), { ...usual, status: "disabled", block })
  })
})

const configured: PhoneNumber.ProviderNumber = {
  phoneNumber: "+14155550111",
  providerNumberId: "configured",
  providerAccountId: "account-1",
  learned: PhoneNumber.unlearned
}

const setUp = () => {
  const provider = stubProvider()
  provider.firstNumber = Effect.succeed(configured)
  return {
    provider,
    layer: PhoneNumbers.layer.pipe(
      Layer.provideMerge(Templates.layer),
      Layer.provide(provider.layer),
      Layer.provideMerge(Readiness.layer),
      Layer.provideMerge(foundation)
    )
  }
}

type Services = Layer.Success<ReturnType<typeof setUp>["layer"]>

const numbers = <E>(
  test: (provider: ReturnType<typeof setUp>["provider"]) => Effect.Effect<void, E, Services | Scope.Scope>
) =>
() =>
  Effect.suspend(() => {
    const { layer, provider } = setUp()
    return Effect.andThen(TestClock.setTime(start), test(provider)).pipe(Effect.provide(layer))
  })

const ensure = PhoneNumbers.use((_) => _.ensure)
const list = (id: WorkspaceId) => PhoneNumberStore.use((store) => store.list(id))
const named = PhoneNumberStore.use((store) => store.named(configured))

describe("the configured number", () => {
  it.effect(
    "the configured number is added to the first workspace as its default, once, by any number of processes",
    numbers(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        yield* TestClock.adjust(second)
        const later = yield* world()
        yield* Effect.all(Array.from({ length: 5 }, () => ensure), { concurrency: "unbounded" })
        const [added, ...others] = yield* list(workspace.id)
        assert.deepStrictEqual([added, others], [
          PhoneNumber.fresh({
            ...configured,
            id: added!.id,
            workspaceId: workspace.id,
            provider: "stub",
            isDefault: true
          }),
          [{ ...number, isDefault: false }]
        ])
        assert.deepStrictEqual(yield* list(later.workspace.id), [later.number])
      })
    )
  )

  it.effect(
    "a known number keeps the operator's settings, and gets its account and reported values updated",
    numbers((provider) =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        const { providerNumberId } = number
        yield* PhoneNumberStore.use((store) => store.configure(number.id, { tier: "high", available: false }))
        const block = SenderBlock.of("quality", start, detail)
        yield* PhoneNumberStore.use((store) =>
          store.observe({ name: number, now: start, at: start, change: { block } })
        )
        yield* TestClock.adjust(second)
        const learned = { tier: "coexistence", messagingLimit: 250, quality: "green" }
        provider.firstNumber = Effect.succeed({ ...configured, providerNumberId, learned })
        yield* ensure
        const expected = { ...number, tier: "high", available: false, block, learned, providerAccountId: "account-1" }
        assert.deepStrictEqual(yield* list(workspace.id), [expected])
        // unlimited is a value too
        const unlimited = { ...learned, messagingLimit: PhoneNumber.unlimited }
        provider.firstNumber = Effect.succeed({ ...configured, providerNumberId, learned: unlimited })
        yield* ensure
        assert.deepStrictEqual(yield* list(workspace.id), [{ ...expected, learned: unlimited }])
        provider.firstNumber = Effect.succeed({ ...configured, providerNumberId, learned })
        yield* ensure
        // values that are not reported are kept
        provider.firstNumber = Effect.succeed({ ...configured, providerNumberId })
        yield* ensure
        assert.deepStrictEqual(yield* list(workspace.id), [expected])
      })
    )
  )

  it.effect(
    "a new number's templates are listed as soon as the provider returns them",
    numbers((provider) =>
      Effect.gen(function*() {
        yield* world()
        const heard: Array<string> = []
        provider.listed = ({ providerAccountId }) => void heard.push(providerAccountId)
        const asked = Effect.map(ensure, () => heard.splice(0))
        assert.deepStrictEqual(yield* asked, [configured.providerAccountId])
        assert.deepStrictEqual(yield* asked, [])
        provider.firstNumber = Effect.succeed({ ...configured, providerAccountId: "account-2" })
        const { templates } = provider
        const error = new TemplatesUnavailable({ message: "upstream is down" })
        provider.templates = Effect.fail(error)
        assert.strictEqual(yield* Effect.flip(ensure), error)
        provider.templates = templates
        assert.deepStrictEqual(yield* asked, ["account-2", "account-2"])
        assert.deepStrictEqual(yield* asked, [])
      })
    )
  )

  it.effect(
    "templates are listed again if storage has none, as after an interrupted start",
    numbers((provider) =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        provider.firstNumber = Effect.succeed({ ...configured, providerNumberId: number.providerNumberId })
        yield* TemplateStore.use((store) =>
          store.replaceAll({
            now: start + second,
            listedAt: start + second,
            workspaceId: workspace.id,
            providerAccountId: number.providerAccountId,
            listed: [],
            ids: []
          })
        )
        yield* TestClock.adjust(minute)
        yield* ensure
        const { items } = yield* Templates.use((_) => _.list(workspace.id, {}, { limit: 10, after: null }))
        assert.lengthOf(items, 3)
      })
    )
  )

  it.effect(
    "numbers of several providers coexist, each with a default, and are used again when their provider runs",
    numbers((provider) =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        const before = { ...number, provider: "another", providerAccountId: "account-9" }
        yield* PhoneNumberStore.use((store) => store.assign(number.id, before))
        yield* ensure
        const [added] = yield* named
        assert.sameDeepMembers([...yield* list(workspace.id)], [added!, before])
        assert.isTrue(added!.isDefault)
        // the running provider's default is shown
        const shown = yield* PhoneNumbers.use((_) => _.list(workspace.id, { limit: 10, after: null }))
        assert.deepStrictEqual(shown.items.map(({ number }) => [number.provider, number.isDefault]), [
          ["stub", true],
          ["another", false]
        ])
        // a number known under another provider belongs to this one from then on
        provider.firstNumber = Effect.succeed({ ...configured, providerNumberId: number.providerNumberId })
        yield* ensure
        const [moved] = (yield* list(workspace.id)).filter(({ id }) => id === number.id)
        assert.deepInclude(moved, {
          provider: "stub",
          providerAccountId: configured.providerAccountId,
          isDefault: false
        })
      })
    )
  )

  it.effect(
    "the process is not ready until the templates are there",
    numbers((provider) =>
      Effect.gen(function*() {
        yield* world()
        const { templates } = provider
        provider.templates = Effect.fail(new TemplatesUnavailable({ message: "upstream is down" }))
        provider.firstNumber = Effect.succeed({ ...configured, providerAccountId: "account-2" })
        yield* Layer.build(layerEnsured)
        const { check } = yield* Readiness
        assert.deepInclude(yield* Effect.flip(check), { reason: "provider_unavailable", message: "upstream is down" })
        provider.templates = templates
        yield* TestClock.adjust(minute)
        yield* check
      })
    )
  )

  it.effect(
    "a provider that never responds delays a start only for a limited time",
    numbers((provider) =>
      Effect.gen(function*() {
        provider.firstNumber = Effect.never
        const built = yield* Effect.forkChild(Layer.build(layerEnsured))
        yield* TestClock.adjust("20 seconds")
        yield* Fiber.join(built)
        const { check } = yield* Readiness
        assert.match((yield* Effect.flip(check)).message, /has not yet returned/)
      })
    )
  )

  it.effect(
    "a start lifts no block, since that the provider names a number does not show that the number may send",
    numbers(() =>
      Effect.gen(function*() {
        yield* world()
        yield* ensure
        const block = SenderBlock.of("credentials", start, detail)
        yield* PhoneNumberStore.use((store) =>
          store.observe({ name: configured, now: start, at: start, change: { block } })
        )
        yield* ensure
        assert.deepStrictEqual((yield* named)[0]!.block, block)
      })
    )
  )

  it.effect(
    "a number whose digits the workspace has under another provider id is not added, and that is logged",
    numbers((provider) =>
      logged((lines) =>
        Effect.gen(function*() {
          const { number, workspace } = yield* world()
          provider.firstNumber = Effect.succeed({ ...configured, phoneNumber: number.phoneNumber })
          yield* ensure
          assert.deepStrictEqual(yield* list(workspace.id), [number])
          assert.deepStrictEqual(lines.map(({ level, message }) => [level, message.includes("configured")]), [
            ["Warn", true]
          ])
        })
      )
    )
  )

  it.effect(
    "the number is requested even without a workspace, to detect a wrong configuration, and added to none",
    numbers((provider) =>
      Effect.gen(function*() {
        yield* ensure
        assert.deepStrictEqual(yield* named, [])
        const error = new ProviderError({ reason: "provider_error", message: "no such number" })
        provider.firstNumber = Effect.fail(error)
        assert.strictEqual(yield* Effect.flip(ensure), error)
      })
    )
  )

  it.effect(
    "ensure runs at start, and again every minute until the provider has responded",
    numbers((provider) =>
      logged((lines) =>
        Effect.gen(function*() {
          yield* world()
          let asked = 0
          const error = new ProviderError({ reason: "provider_unavailable", message: "upstream is down" })
          provider.firstNumber = Effect.suspend(() => {
            asked++
            return Effect.fail(error)
          })
          yield* Layer.build(layerEnsured)
          const { check } = yield* Readiness
          assert.deepInclude(yield* Effect.flip(check), { reason: "provider_unavailable", message: "upstream is down" })
          assert.strictEqual(asked, 1)
          assert.match(lines.at(-1)!.message, /upstream is down/)
          yield* TestClock.adjust(minute)
          assert.strictEqual(asked, 2)
          yield* TestClock.adjust(5 * minute)
          assert.strictEqual(asked, 7)
          assert.deepStrictEqual(yield* named, [])
          provider.firstNumber = Effect.succeed(configured)
          yield* TestClock.adjust(minute)
          assert.lengthOf(yield* named, 1)
          yield* check
          provider.firstNumber = Effect.die("asked again")
          yield* TestClock.adjust(hour)
          assert.strictEqual(lines.filter(({ level }) => level === "Warn").length, 7)
        })
      )
    )
  )

  it.effect(
    "ensure runs again after a defect, which is logged, and the process is not ready meanwhile",
    numbers((provider) =>
      logged((lines) =>
        Effect.gen(function*() {
          yield* world()
          let asked = 0
          provider.firstNumber = Effect.suspend(() =>
            asked++ < 2 ? Effect.die(new Error("a defect")) : Effect.succeed(configured)
          )
          yield* Layer.build(layerEnsured)
          const { check } = yield* Readiness
          assert.strictEqual(yield* Effect.map(Effect.flip(check), ({ reason }) => reason), "provider_unavailable")
          assert.match(lines.at(-1)!.message, /could not be set up/)
          yield* TestClock.adjust(minute)
          assert.deepStrictEqual(yield* named, [])
          assert.isTrue(yield* Effect.isFailure(check))
          yield* TestClock.adjust(minute)
          assert.lengthOf(yield* named, 1)
          yield* check
          assert.strictEqual(lines.filter(({ level }) => level === "Warn").length, 2)
        })
      )
    )
  )

  it.effect(
    "where everything runs in shifts, ensure runs again in shifts only, however short they are",
    numbers((provider) =>
      Effect.gen(function*() {
        yield* world()
        let asked = 0
        provider.firstNumber = Effect.suspend(() => {
          asked++
          return Effect.fail(new ProviderError({ reason: "provider_unavailable", message: "upstream is down" }))
        })
        const chores: Array<Effect.Effect<void>> = []
        yield* Effect.provideService(Layer.build(layerEnsured), Chores, chores)
        const shift = Effect.forEach(chores, (chore) => Effect.forkScoped(chore)).pipe(
          Effect.andThen(TestClock.adjust("20 seconds")),
          Effect.scoped
        )
        yield* TestClock.adjust(hour)
        assert.strictEqual(asked, 1)
        yield* shift
        assert.strictEqual(asked, 2)
        provider.firstNumber = Effect.succeed(configured)
        yield* shift
        assert.deepStrictEqual(yield* named, [])
        yield* TestClock.adjust("40 seconds")
        yield* shift
        assert.lengthOf(yield* named, 1)
        yield* Readiness.use(({ check }) => check)
        provider.firstNumber = Effect.die("asked again")
        yield* TestClock.adjust(hour)
        yield* shift
      })
    )
  )

  it.effect(
    "the number exists once the start has succeeded",
    numbers(() =>
      Effect.gen(function*() {
        yield* world()
        yield* Layer.build(layerEnsured)
        assert.lengthOf(yield* named, 1)
      })
    )
  )
})

it.effect(
  "numbers are listed newest first, in pages, with their current state",
  numbers(() =>
    Effect.gen(function*() {
      const { number, workspace } = yield* world()
      yield* world()
      const added: Array<PhoneNumber.PhoneNumber> = []
      for (let i = 0; i < 4; i++) {
        const next = PhoneNumber.fresh({
          ...configured,
          id: yield* newId("pn"),
          workspaceId: workspace.id,
          provider: "stub",
          phoneNumber: `+1415555020${i}`,
          providerNumberId: `number ${i}`,
          isDefault: false
        })
        yield* PhoneNumberStore.use((store) => store.add(next))
        added.unshift(next)
      }
      const page = (limit: number, after: string | null) =>
        PhoneNumbers.use((_) => _.list(workspace.id, { limit, after }))
      const seen: Array<string> = []
      let after: string | null = null
      do {
        const { items, next }: Effect.Success<ReturnType<typeof page>> = yield* page(2, after)
        seen.push(...items.map(({ number }) => number.id))
        after = next
      } while (after !== null)
      assert.deepStrictEqual(seen, [...added, number].map(({ id }) => id))

      const block = SenderBlock.of("payment", start, null)
      yield* PhoneNumberStore.use((store) =>
        store.observe({ name: added[0]!, now: start, at: start, change: { block } })
      )
      const status = Effect.map(page(1, null), ({ items }) => items[0]!.status)
      assert.strictEqual(yield* status, "blocked")
      yield* TestClock.setTime(block.until!)
      assert.strictEqual(yield* status, "available")
    })
  )
)
