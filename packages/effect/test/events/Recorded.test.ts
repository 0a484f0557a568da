import { type Event, EventStore, type Ports } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Effect, Layer } from "effect"
import { assert, it } from "vitest"
import { Adapter } from "../../src/index.ts"
import { fresh, hello, start } from "../instance.ts"

/** A storage whose events another version recorded, with a field that this one does not know. */
const ofAnother = (more: { readonly [field: string]: string }): Layer.Layer<Ports.Ports> =>
  Layer.effect(
    EventStore.EventStore,
    Effect.map(EventStore.EventStore, (store): EventStore.EventStore["Service"] => {
      const told = (event: Event.Event): Event.Event => ({ ...event, data: { ...event.data, ...more } })
      const ofPage = (page: EventStore.EventPage) => ({ ...page, items: page.items.map(told) })
      return {
        ...store,
        list: (...args) => Effect.map(store.list(...args), ofPage),
        latest: (...args) => Effect.map(store.latest(...args), ofPage)
      }
    })
  ).pipe(Layer.provideMerge(MemoryStorage.layer))

it("events are answered as they were recorded, with the fields of other versions", async () => {
  const more = { later: "a field that this version does not know", status: "newer" }
  const { wac } = await start({ storage: Adapter.storage(ofAnother(more)) })
  await wac.messages.send(hello(), fresh())
  const { apiKey } = await wac.keys.create({ name: "reader", scopes: ["messages:read"] })
  const [event] = (await wac.events.list().page()).data
  assert.deepInclude(event!.data, more)
  for (const query of ["", "?order=newest"]) {
    const answer = await wac.handler(
      new Request(`http://localhost/v1/events${query}`, { headers: { authorization: `Bearer ${apiKey}` } })
    )
    assert.strictEqual(answer.headers.get("content-type"), "application/json")
    assert.deepStrictEqual((await answer.json() as { readonly data: unknown }).data, [event])
  }
})
