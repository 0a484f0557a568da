import { assert, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Choose, Chosen } from "../../src/contacts/ContactStep.ts"
import { ContactStore } from "../../src/contacts/ContactStore.ts"
import { OptOuts } from "../../src/contacts/OptOuts.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import { StoreError } from "../../src/StoreError.ts"
import { start } from "../samples.ts"
import { foundation, type World, world } from "../world.ts"

const phone = "+12025550123"

/** Opt-outs over the memory storage, of which a test replaces the step of a choice. */
const setUp = () => {
  const state = {
    /** The number of steps of choices. */
    steps: 0,
    /** Runs instead of a step. */
    choosing: (step: Effect.Effect<Chosen, StoreError>, _command: Choose): typeof step => step
  }
  const store = Layer.effect(
    ContactStore,
    Effect.map(ContactStore, (real) =>
      ContactStore.of({
        ...real,
        choose: (command) =>
          Effect.suspend(() => {
            state.steps++
            return state.choosing(real.choose(command), command)
          })
      }))
  )
  const layer = OptOuts.layer.pipe(
    Layer.provide(store),
    Layer.provideMerge(Layer.provideMerge(Inbound.layer, foundation))
  )
  return { state, layer }
}

const optOuts = <E>(
  test: (
    state: ReturnType<typeof setUp>["state"]
  ) => Effect.Effect<void, E, Layer.Success<ReturnType<typeof setUp>["layer"]>>
) =>
() =>
  Effect.suspend(() => {
    const { layer, state } = setUp()
    return Effect.andThen(TestClock.setTime(start), test(state).pipe(Effect.provide(layer)))
  })

const choose = (
  { workspace }: World,
  preference: "opt_in" | "opt_out",
  fields: { readonly phoneNumberId?: string; readonly name?: string } = {}
) => OptOuts.use((all) => all.choose(workspace.id, { name: phone, preference, source: "api", ...fields }))

/** Receives a text of the customer, a second later. */
const write = ({ number }: World, body: string) =>
  Effect.gen(function*() {
    yield* TestClock.adjust("1 second")
    const at = yield* Clock.currentTimeMillis
    const inbound = yield* Inbound
    yield* inbound.receive([{
      _tag: "Message",
      message: {
        providerNumberId: number.providerNumberId,
        providerMessageId: `wamid.${at}`,
        customer: { phone, userId: null },
        at,
        type: "text",
        content: { body },
        context: null,
        preference: body === "STOP" ? "opt_out" : body === "START" ? "opt_in" : undefined
      }
    }])
  })

const isOptedOut = ({ number, workspace }: World) =>
  Effect.map(
    ContactStore.use((store) => store.named(workspace.id, phone)),
    (contacts) => contacts.some((one) => one.phoneNumberId === number.id && one.optedOut)
  )

/** Lets one step of a choice fail, and returns what does it after all. */
const failing = (state: ReturnType<typeof setUp>["state"], which: number) => {
  let late: Effect.Effect<unknown, StoreError> = Effect.die("no step failed")
  const last = state.steps + which
  state.choosing = (step) => {
    if (state.steps !== last) return step
    late = step
    return Effect.fail(new StoreError({ operation: "ContactStore.choose" }))
  }
  return Effect.suspend(() => late)
}

it.effect(
  "an opt-in that failed leaves a customer opted out who wrote STOP before the storage did it",
  optOuts((state) =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* write(own, "Hello")
      const late = failing(state, 1)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(choose(own, "opt_in"))))
      yield* write(own, "STOP")
      yield* late
      assert.isTrue(yield* isOptedOut(own))
    })
  )
)

it.effect(
  "an opt-in of an opted-out customer that failed does not undo a STOP that came before the storage did it",
  optOuts((state) =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* write(own, "STOP")
      const late = failing(state, 2)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(choose(own, "opt_in"))))
      state.choosing = (step) => step
      // the caller's retry
      assert.isFalse((yield* choose(own, "opt_in")).optedOut)
      assert.isFalse(yield* isOptedOut(own))
      yield* write(own, "STOP")
      yield* late
      assert.isTrue(yield* isOptedOut(own))
    })
  )
)

it.effect(
  "an opt-out that failed leaves a customer opted in who wrote START before the storage did it",
  optOuts((state) =>
    Effect.gen(function*() {
      const own = yield* world()
      const late = failing(state, 1)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(choose(own, "opt_out"))))
      yield* write(own, "START")
      yield* late
      assert.isFalse(yield* isOptedOut(own))
    })
  )
)

it.effect(
  "a choice is decided again if the customer chooses while it is being decided",
  optOuts((state) =>
    Effect.gen(function*() {
      const own = yield* world()
      for (const [preference, body] of [["opt_in", "STOP"], ["opt_out", "START"]] as const) {
        yield* write(own, "Hello")
        let left = 3
        state.choosing = (step) =>
          left-- > 0 ? Effect.andThen(Effect.orDie(write(own, body)).pipe(Effect.provide(context)), step) : step
        const context = yield* Effect.context<Inbound>()
        const chosen = yield* choose(own, preference)
        assert.deepInclude(chosen, { optedOut: preference === "opt_out", isNew: true })
        assert.strictEqual(yield* isOptedOut(own), chosen.optedOut)
      }
    })
  )
)

it.effect(
  "a choice takes one step of the storage if no choice of the customer is known or if it is in force already",
  optOuts((state) =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* write(own, "Hello")
      for (const preference of ["opt_in", "opt_out", "opt_out"] as const) {
        state.steps = 0
        yield* choose(own, preference)
        assert.strictEqual(state.steps, 1, preference)
      }
      const exception = { name: "+12025550199", phoneNumberId: own.number.id }
      yield* choose(own, "opt_out", { name: exception.name })
      yield* choose(own, "opt_in", exception)
      state.steps = 0
      assert.isFalse((yield* choose(own, "opt_in", exception)).isNew)
      assert.strictEqual(state.steps, 1)
    })
  )
)
