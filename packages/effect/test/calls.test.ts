/**
 * The options that all calls of an instance have: `signal` and `timeout`. No call ignores an option.
 */
import { ApiKeyStore, WebhookStore, WorkspaceStore } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Context, Effect, Latch, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { Adapter } from "../src/index.ts"
import type { Wac } from "../src/promises.ts"
import { failure, hello, start, until } from "./instance.ts"

/** The arguments of every call before its options. */
const calls: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  "messages.send": [hello()],
  "messages.enqueue": [hello()],
  "messages.enqueueMany": [[{ ...hello(), idempotencyKey: "a" }]],
  "messages.cancel": ["msg_1"],
  "messages.markRead": ["msg_1"],
  "messages.get": ["msg_1"],
  "messages.conversation": [{}],
  "messages.list": [{}],
  "media.upload": [{ bytes: new Uint8Array(1) }],
  "media.open": ["med_1"],
  "media.remove": ["med_1"],
  "templates.list": [{}],
  "templates.get": ["tpl_1"],
  "templates.create": [{ name: "a", language: "en", category: "utility", body: { text: "Hello" } }],
  "templates.edit": ["tpl_1", {}],
  "templates.remove": ["tpl_1"],
  "templates.sync": [],
  "keys.create": [{ name: "a" }],
  "keys.list": [],
  "keys.get": ["key_1"],
  "keys.revoke": ["key_1"],
  "webhook.set": [{ url: "https://shop.example" }],
  "webhook.get": [],
  "webhook.remove": [],
  "webhook.test": [],
  "webhook.pause": [],
  "webhook.resume": [{}],
  "webhook.rotateSecret": [{}],
  "webhook.deliveries.list": [{}],
  "webhook.deliveries.get": ["dlv_1"],
  "webhook.deliveries.retry": ["dlv_1"],
  "webhook.replays.create": [{ since: 0 }],
  "webhook.replays.list": [],
  "webhook.replays.get": ["job_1"],
  "webhook.replays.cancel": ["job_1"],
  "campaigns.create": [{ name: "a", template: { name: "a", language: "en" } }],
  "campaigns.list": [{}],
  "campaigns.get": ["cmp_1"],
  "campaigns.edit": ["cmp_1", {}],
  "campaigns.remove": ["cmp_1"],
  "campaigns.addRecipients": ["cmp_1", []],
  "campaigns.replaceRecipients": ["cmp_1", []],
  "campaigns.check": ["cmp_1"],
  "campaigns.start": ["cmp_1"],
  "campaigns.pause": ["cmp_1"],
  "campaigns.resume": ["cmp_1"],
  "campaigns.cancel": ["cmp_1"],
  "campaigns.recipients": ["cmp_1", {}],
  "events.list": [{}],
  "events.get": ["evt_1"],
  "contacts.optOut": ["+12025550123"],
  "contacts.optIn": ["+12025550123"],
  "contacts.list": [{}],
  "contacts.get": ["con_1"],
  "customers.export": ["+12025550123"],
  "customers.erase": ["+12025550123"],
  "phoneNumbers.list": [],
  "phoneNumbers.setCredentials": ["pn_1", null],
  "phoneNumbers.setPortfolio": ["pn_1", null],
  "usage.report": ["week"],
  "subscriptions.list": [],
  "subscriptions.failed": ["a"],
  "subscriptions.retry": ["a", undefined],
  "subscriptions.discard": ["a", undefined],
  "subscriptions.remove": ["a"],
  "workspaces.list": [],
  "workspaces.create": [{ name: "a", phoneNumber: "+15550100002" }],
  "inbound.receive": [[]],
  "portal.link": [{ role: "member" }],
  "metrics": []
}

/** What begins or ends something for longer than a call, and the handlers of requests. */
const others = new Set(["on", "subscribe", "workspace", "handler", "nodeHandler", "work", "close"])

/** The functions of an object and of the objects in it, by their paths. */
const functionsOf = (given: object, within = ""): ReadonlyArray<string> =>
  Object.entries(given).flatMap(([name, value]) =>
    typeof value === "function"
      ? [within + name]
      : typeof value === "object" && value !== null
      ? functionsOf(value, `${within}${name}.`)
      : []
  )

const call = (wac: Wac, path: string, options: unknown): Promise<unknown> => {
  const made = path.split(".").reduce((value, name) => (value as Record<string, unknown>)[name], wac as unknown)
  const called = (made as (...given: ReadonlyArray<unknown>) => unknown)(...calls[path]!, options)
  // a list reads nothing before its first page
  const { page } = called as { readonly page?: () => Promise<unknown> }
  return page === undefined ? called as Promise<unknown> : page()
}

/** A storage that writes no API key, webhook or workspace while it is held, and notes what waits. */
const heldStorage = () => {
  const latch = Latch.makeUnsafe(true)
  const waiting: Array<string> = []
  const held = <A, E>(name: string, write: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      waiting.push(name)
      return Effect.andThen(Latch.await(latch), write)
    })
  const storage = Layer.effectContext(Effect.map(Layer.build(MemoryStorage.layer), (ports) => {
    const keys = Context.get(ports, ApiKeyStore.ApiKeyStore)
    const webhooks = Context.get(ports, WebhookStore.WebhookStore)
    const workspaces = Context.get(ports, WorkspaceStore.WorkspaceStore)
    return ports.pipe(
      Context.add(ApiKeyStore.ApiKeyStore, {
        ...keys,
        issue: (...given) => held("keys.create", keys.issue(...given))
      }),
      Context.add(WebhookStore.WebhookStore, {
        ...webhooks,
        put: (candidate) => held("webhook.set", webhooks.put(candidate))
      }),
      Context.add(WorkspaceStore.WorkspaceStore, {
        ...workspaces,
        create: (created) => held("workspaces.create", workspaces.create(created))
      })
    )
  }))
  return {
    hold: () => {
      waiting.length = 0
      Latch.closeUnsafe(latch)
    },
    release: () => Latch.openUnsafe(latch),
    waiting,
    storage: Adapter.storage(storage)
  }
}

describe("every call of an instance", () => {
  it("each of an instance's functions is a call with options, or runs for longer than a call", async () => {
    const { wac } = await start()
    assert.deepStrictEqual(
      functionsOf(wac).filter((path) => !others.has(path)).toSorted(),
      Object.keys(calls).toSorted()
    )
  })

  it("a call whose signal was aborted before does nothing, and rejects with the signal's reason", async () => {
    const { wac } = await start()
    const signal = AbortSignal.abort(new Error("enough"))
    for (const path of Object.keys(calls)) {
      const error = await call(wac, path, { signal }).then(() => "it was not aborted", (error: unknown) => error)
      assert.strictEqual(error, signal.reason, path)
    }
    assert.lengthOf(await wac.workspaces.list(), 1)
    assert.deepStrictEqual(await wac.keys.list().toArray(), [])
    assert.deepStrictEqual(await wac.messages.list().toArray(), [])
  })

  it("a misspelt option is refused by its name, and nothing is done", async () => {
    const { wac } = await start()
    for (const path of Object.keys(calls)) {
      const misspelt = { idempotencykey: "a" }
      const error = await failure(call(wac, path, misspelt)).catch((error: unknown) => assert.fail(`${path}: ${error}`))
      assert.deepInclude(error, { code: "invalid_body", reason: "unknown_field", param: "idempotencykey" }, path)
    }
    assert.lengthOf(await wac.workspaces.list(), 1)
    assert.deepStrictEqual(await wac.keys.list().toArray(), [])
    assert.deepStrictEqual(await wac.messages.list().toArray(), [])
  })

  it("a method passed as a callback is refused for the further arguments of the callback", async () => {
    const { wac } = await start()
    const [named] = ["key_1"].map(wac.keys.get as (id: string, index: number) => Promise<unknown>)
    assert.deepInclude(await failure(named!), { code: "invalid_body", param: "options" })
    const asHandler = wac.metrics as (request: unknown, response: unknown) => Promise<unknown>
    assert.deepInclude(await failure(asHandler({ url: "/metrics" }, {})), {
      code: "invalid_body",
      reason: "unknown_field"
    })
  })

  it("a timeout that is no number of milliseconds above 0 is refused by every call", async () => {
    const { wac } = await start()
    for (const path of Object.keys(calls)) {
      const error = await failure(call(wac, path, { timeout: 0 })).catch((error: unknown) =>
        assert.fail(`${path}: ${error}`)
      )
      assert.deepInclude(error, { code: "invalid_body", reason: "invalid_field", param: "timeout" }, path)
    }
  })

  it("a call that times out or is aborted while the storage writes has its effect afterwards", async () => {
    for (const ending of ["timeout", "signal"] as const) {
      const second = { name: "Second shop", phoneNumber: "+15550100002" }
      const { hold, release, storage, waiting } = heldStorage()
      const { clock, wac } = await start({ storage })
      hold()
      const controller = new AbortController()
      const options = ending === "timeout" ? { timeout: 1000 } : { signal: controller.signal }
      const ends = Promise.all(
        [
          wac.keys.create({ name: "shop" }, options),
          wac.webhook.set({ url: "https://8.8.8.8/" }, options),
          wac.workspaces.create(second, options)
        ].map((call) => call.then(() => "it resolved", (error: unknown) => error))
      )
      await until(() => waiting.length === 3)
      assert.sameMembers(waiting, ["keys.create", "webhook.set", "workspaces.create"])
      if (ending === "timeout") await clock.advance("1 second")
      else controller.abort("enough")
      for (const end of await ends) {
        if (ending === "signal") assert.strictEqual(end, "enough")
        else assert.deepInclude(end, { name: "WacError", code: "no_response", reason: "timeout" })
      }
      assert.deepStrictEqual(await wac.keys.list().toArray(), [])
      assert.strictEqual((await failure(wac.webhook.get())).code, "not_found")
      assert.lengthOf(await wac.workspaces.list(), 1)
      release()
      // the effects of a released storage take some turns of the event loop
      await clock.advance("1 second")
      assert.deepStrictEqual((await wac.keys.list().toArray()).map(({ name }) => name), ["shop"])
      assert.strictEqual((await wac.webhook.get()).url, "https://8.8.8.8/")
      assert.deepStrictEqual((await wac.workspaces.list()).map(({ name }) => name).slice(1), ["Second shop"])
      assert.deepInclude(await failure(wac.workspaces.create(second)), {
        code: "invalid_body",
        param: "providerNumberId"
      })
    }
  })

  it("an invalid key of a new API key is refused, and errors carry the key of their call", async () => {
    const { wac } = await start()
    for (const idempotencyKey of [null, 5, "two words"]) {
      assert.deepInclude(await failure(wac.keys.create({ name: "a" }, { idempotencyKey: idempotencyKey as never })), {
        reason: "invalid_idempotency_key",
        param: "idempotencyKey"
      })
    }
    await wac.keys.create({ name: "a" }, { idempotencyKey: "shop" })
    assert.deepInclude(await failure(wac.keys.create({ name: "b" }, { idempotencyKey: "shop" })), {
      code: "idempotency_conflict",
      idempotencyKey: "shop"
    })
    assert.lengthOf(await wac.keys.list().toArray(), 1)
  })
})
