import { CustomerStore } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Context, Effect, Latch, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { Adapter } from "../../src/index.ts"
import { failure, fresh, start, until } from "../instance.ts"

const from = "+12025550188"

describe("customers", () => {
  it("an export that is aborted or times out reads nothing more", async () => {
    const latch = Latch.makeUnsafe(false)
    const asked: Array<string> = []
    const storage = Layer.effectContext(Effect.map(Layer.build(MemoryStorage.layer), (ports) => {
      const store = Context.get(ports, CustomerStore.CustomerStore)
      return Context.add(ports, CustomerStore.CustomerStore, {
        ...store,
        find: (step) => {
          asked.push(step.place)
          return Effect.andThen(Latch.await(latch), store.find(step))
        }
      })
    }))
    const { clock, wac } = await start({ storage: Adapter.storage(storage) })
    const late = failure(wac.customers.export(from, { timeout: 1000 }))
    await until(() => asked.length === 1)
    await clock.advance("1 second")
    assert.deepInclude(await late, { code: "no_response", reason: "timeout" })
    const aborted = new AbortController()
    const left = wac.customers.export(from, { signal: aborted.signal }).then(() => [], (error: unknown) => error)
    await until(() => asked.length === 2)
    aborted.abort("enough")
    assert.strictEqual(await left, "enough")
    Latch.openUnsafe(latch)
    // which waits for what is in flight
    await wac.close()
    assert.lengthOf(asked, 2)
  })

  it("a customer who is named in no form that is stored is refused, and nothing is erased", async () => {
    const { wac } = await start()
    await wac.inbound.receive([
      { type: "message", providerNumberId: "sandbox-1", from, providerMessageId: "in-1", text: { body: "Hello" } }
    ])
    for (const customer of [from.slice(1), "+1 202 555 0188", "00" + from.slice(1), "", undefined, null, 12025550188]) {
      for (const call of [wac.customers.erase, wac.customers.export]) {
        const refused = await failure(call(customer as never))
        assert.deepInclude(refused, { code: "invalid_body", reason: "invalid_field", param: "customer" })
      }
    }
    assert.isNotEmpty(await wac.customers.export(from))
  })

  it("a customer is exported and erased, and a later message from them is a new contact's", async () => {
    const { clock, wac } = await start()
    const receive = (body: string, providerMessageId: string) =>
      wac.inbound.receive([{ type: "message", providerNumberId: "sandbox-1", from, providerMessageId, text: { body } }])
    await receive("Hello", "in-1")
    await wac.messages.send({ to: from, type: "text", text: { body: "Hi, Ada" } }, fresh())
    await clock.advance("1 second")

    const kinds = (await wac.customers.export(from)).map(({ kind }) => kind)
    assert.sameMembers([...new Set(kinds)], ["contact", "event", "message", "inbound_message"])
    assert.deepInclude(await wac.customers.erase(from), { contacts: 1, messages: 1, deliveries: 0 })
    assert.deepStrictEqual(await wac.customers.export(from), [])

    await receive("It is me again", "in-2")
    assert.sameMembers((await wac.customers.export(from)).map(({ kind }) => kind), [
      "contact",
      "event",
      "inbound_message"
    ])
  })

  it("a customer who said Stop. stays opted out after they are erased, until START or optIn", async () => {
    const { clock, wac } = await start()
    const receive = (body: string, providerMessageId: string) =>
      wac.inbound.receive([{ type: "message", providerNumberId: "sandbox-1", from, providerMessageId, text: { body } }])
    const promo = () =>
      wac.messages.send({
        to: from,
        type: "template",
        template: { name: "promo", language: "en_US", bodyParams: ["20%"] }
      }, fresh()).then(({ status }) => status, ({ reason }) => reason)
    await receive("Stop.", "in-1")
    assert.strictEqual(await promo(), "opted_out")
    await clock.advance("1 second")
    await wac.customers.erase(from)
    assert.strictEqual(await promo(), "opted_out")
    await receive("It is me again", "in-2")
    assert.strictEqual(await promo(), "opted_out")
    await receive("START", "in-3")
    assert.strictEqual(await promo(), "sent")

    assert.deepInclude(await wac.contacts.optOut(from), { contact: from, optedOut: true, source: "api" })
    assert.strictEqual(await promo(), "opted_out")
    await wac.customers.erase(from)
    assert.strictEqual(await promo(), "opted_out")
    assert.deepStrictEqual(await wac.contacts.optIn(from), {
      contact: from,
      optedOut: false,
      optedOutAt: null,
      source: null
    })
    assert.strictEqual(await promo(), "sent")

    const refused = (name: string, options?: { readonly phoneNumberId: string }) =>
      wac.contacts.optOut(name, options).then(() => null, ({ param, reason }) => [reason, param])
    assert.deepStrictEqual(await refused("+15"), ["invalid_field", "name"])
    assert.deepStrictEqual(await refused(from, { phoneNumberId: "pn_nobody" }), ["invalid_field", "phoneNumberId"])
  })

  it("the opt-out of a customer without a contact is exported, until the customer is erased", async () => {
    const { wac } = await start()
    const { optedOutAt } = await wac.contacts.optOut(from)
    await wac.contacts.optOut("+12025550189")
    assert.deepStrictEqual(await wac.customers.export(from), [{
      kind: "opt_out",
      record: { name: from, phoneNumberId: null, at: Date.parse(optedOutAt!), source: "api" }
    }])
    assert.deepInclude(await wac.customers.erase(from), { contacts: 0 })
    assert.deepStrictEqual(await wac.customers.export(from), [])
    assert.strictEqual((await wac.contacts.optOut(from)).optedOut, true)
  })
})
