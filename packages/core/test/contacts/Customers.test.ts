import { assert, it } from "@effect/vitest"
import { Clock, Effect, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ContactStore } from "../../src/contacts/ContactStore.ts"
import type * as CustomerRecords from "../../src/contacts/CustomerRecords.ts"
import { Customers } from "../../src/contacts/Customers.ts"
import { CustomerStore, nothing } from "../../src/contacts/CustomerStore.ts"
import { EventStore } from "../../src/events/EventStore.ts"
import type { MediaId } from "../../src/Id.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import type { InboundItem } from "../../src/inbound/InboundItem.ts"
import type { InboundMessage } from "../../src/inbound/InboundMessage.ts"
import { MediaBytes } from "../../src/media/MediaBytes.ts"
import { MediaStore } from "../../src/media/MediaStore.ts"
import { StoreError } from "../../src/StoreError.ts"
import { start } from "../samples.ts"
import { foundation, type World, world } from "../world.ts"

const phone = "+12025550123"

/** Customers over the memory storage, of which a test replaces the bytes of files and the steps of an erasure. */
const setUp = () => {
  const state = {
    /** Whether the object store deletes. */
    deletes: true,
    /** A place without records. */
    empty: undefined as CustomerRecords.Place | undefined,
    /** Runs instead of a step of an erasure. */
    erasing: (erase: CustomerStore["Service"]["erase"]) => erase
  }
  const bytes = Layer.effect(
    MediaBytes,
    Effect.map(MediaBytes, (real) =>
      MediaBytes.of({
        ...real,
        remove: (file) =>
          Effect.suspend(() =>
            state.deletes ? real.remove(file) : Effect.fail(new StoreError({ operation: "MediaBytes.remove" }))
          )
      }))
  )
  const store = Layer.effect(
    CustomerStore,
    Effect.map(CustomerStore, (real) =>
      CustomerStore.of({
        ...real,
        find: (step) =>
          Effect.suspend(() =>
            step.place === state.empty ? Effect.succeed({ found: [], next: null }) : real.find(step)
          ),
        erase: (step) =>
          Effect.suspend(() => step.place === state.empty ? Effect.succeed(nothing) : state.erasing(real.erase)(step))
      }))
  )
  const layer = Customers.layer.pipe(
    Layer.provide(Layer.merge(bytes, store)),
    Layer.provideMerge(Layer.provideMerge(Inbound.layer, foundation))
  )
  return { state, layer }
}

const customers = <E>(
  test: (
    state: ReturnType<typeof setUp>["state"]
  ) => Effect.Effect<void, E, Layer.Success<ReturnType<typeof setUp>["layer"]>>
) =>
() =>
  Effect.suspend(() => {
    const { layer, state } = setUp()
    return Effect.andThen(TestClock.setTime(start), test(state).pipe(Effect.provide(layer)))
  })

const receive = (...items: ReadonlyArray<InboundItem>) => Inbound.use((inbound) => inbound.receive(items))

const message = (
  { number }: World,
  fields: Pick<InboundMessage, "providerMessageId"> & Partial<InboundMessage>
): InboundItem => ({
  _tag: "Message",
  message: {
    providerNumberId: number.providerNumberId,
    customer: { phone, userId: null },
    at: start,
    type: "text",
    content: { body: "Hello" },
    context: null,
    preference: undefined,
    ...fields
  }
})

/** A message with a file, from the customer. */
const document = (own: World, providerMediaId: string): InboundItem =>
  message(own, {
    providerMessageId: `wamid.${providerMediaId}`,
    type: "document",
    content: { mime_type: "application/pdf" },
    file: { providerMediaId, filename: null, sha256: null }
  })

const erase = ({ workspace }: World, customer = phone) => Customers.use((all) => all.erase(workspace.id, customer))

/** The files of the workspace's events that can be read. */
const filesOf = ({ workspace: { id: workspaceId } }: World) =>
  Effect.gen(function*() {
    const media = yield* MediaStore
    const { items } = yield* EventStore.use((store) => store.list(workspaceId, {}, { limit: 10, after: null }))
    const ids = items.flatMap(({ data }) => (data["document"] as { readonly media_id: MediaId }).media_id)
    const isLeft = Effect.gen(function*() {
      const found = yield* Effect.forEach(ids, (id) => media.find({ workspaceId, id }))
      return found.some(Option.isSome)
    })
    const removed = Effect.flatMap(Clock.currentTimeMillis, (now) => media.removed(now, "", 10))
    return { ids, isLeft, removed: Effect.map(removed, (files) => files.map(({ id }) => id)) }
  })

it.effect.each(["deliveries", "events", "conversations"] as const)(
  "an export has each file of the customer once, also if the %s that named it are gone",
  (empty) =>
    customers((state) =>
      Effect.gen(function*() {
        const own = yield* world()
        yield* receive(document(own, "1"), document(own, "2"))
        const { ids } = yield* filesOf(own)
        state.empty = empty
        const records = yield* Stream.runCollect(
          Stream.unwrap(Customers.use((all) => Effect.succeed(all.export(own.workspace.id, phone))))
        )
        const files = records.flatMap(({ kind, record }) =>
          kind === "file" ? (record as { readonly id: MediaId }).id : []
        )
        assert.sameMembers(files, [...ids])
      })
    )()
)

it.effect(
  "if the object store fails, the erasure succeeds, and removes the customer's files without their bytes",
  customers((state) =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* receive(document(own, "1"), document(own, "2"), document(own, "3"))
      const { ids, isLeft, removed } = yield* filesOf(own)
      assert.strictEqual(ids.length, 3)
      state.deletes = false
      assert.deepInclude(yield* erase(own), { events: 3, files: 3 })
      assert.isFalse(yield* isLeft)
      assert.sameMembers([...yield* removed], ids)
    })
  )
)

it.effect.each(
  [["events", "conversations"], ["conversations", "events"]] as const
)(
  "an erasure that stops after it has deleted %s has removed the files that they name",
  ([place, empty]) =>
    customers((state) =>
      Effect.gen(function*() {
        const own = yield* world()
        yield* receive(document(own, "1"), document(own, "2"))
        const { ids, isLeft, removed } = yield* filesOf(own)
        state.empty = empty
        state.erasing = (erase) => (step) =>
          step.place === place
            ? Effect.andThen(erase(step), Effect.fail(new StoreError({ operation: "CustomerStore.erase" })))
            : erase(step)
        assert.strictEqual((yield* Effect.flip(erase(own)))._tag, "StoreError")
        assert.isFalse(yield* isLeft)
        assert.sameMembers([...yield* removed], ids)
      })
    )()
)

it.effect(
  "a name that is learnt during the erasure is erased too, and keeps the customer's opt-out",
  customers((state) =>
    Effect.gen(function*() {
      const own = yield* world()
      const { id: workspaceId } = own.workspace
      const user = { phone: null, userId: "US.1" }
      yield* receive(message(own, { providerMessageId: "wamid.1", customer: user }))
      const { apply } = yield* Inbound
      const optOut = message(own, {
        providerMessageId: "wamid.2",
        customer: { phone, userId: "US.1" },
        preference: "opt_out"
      })
      const answered = apply(optOut, yield* Clock.currentTimeMillis)
      state.erasing = (erase) => (step) => {
        if (step.place !== "posts") return erase(step)
        state.erasing = (erase) => erase
        return Effect.andThen(answered, erase(step))
      }
      assert.deepInclude(yield* erase(own, "US.1"), { contacts: 1, events: 2, conversations: 2 })
      for (const name of ["US.1", phone]) {
        assert.deepStrictEqual(
          yield* Customers.use((all) => Stream.runCollect(all.export(workspaceId, name))),
          [],
          name
        )
      }
      assert.strictEqual(yield* ContactStore.use((store) => store.countErased(workspaceId)), 2)
    })
  )
)
