import { SeededRandom } from "@wac/testkit"
import { assert, describe, expectTypeOf, it } from "vitest"
import {
  type CustomProvider,
  defineProvider,
  type NewMessage,
  type ProviderDefinition,
  type ProviderOutcome,
  type WacError,
  type WacOptions
} from "../../src/promises.ts"
import { failure, fresh, hello, start, templates, until } from "../instance.ts"

/** A provider whose `send` is any function. */
const answering = (send: (message: never) => unknown): CustomProvider => ({
  phoneNumber: "+15005550100",
  templates,
  send: send as CustomProvider["send"]
})

/** The results of one send each by a provider that returns these. */
const outcomesOf = async (sends: ReadonlyArray<() => unknown>) => {
  let next = 0
  const { clock, log, wac } = await start({ provider: answering(() => sends[next++]!()) })
  const ends: Array<string> = []
  for (const _ of sends) {
    const sent = wac.messages.send(hello(), fresh()).then(
      () => "sent",
      (error: WacError) => `${error.code}/${error.reason}`
    )
    let end: string | undefined
    void sent.then((ended) => end = ended)
    await clock.advance("9 seconds")
    await until(() => end !== undefined)
    ends.push(end!)
  }
  return { ends, log }
}

const unknown = "server_error/outcome_unknown"

const accepted = { status: "accepted", providerMessageId: "p-1" }
const refused = { status: "refused", code: "forbidden", reason: "provider_policy", message: "no" }
const throttled = { status: "not_sent", code: "rate_limited", reason: "provider", message: "slow down" }

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

/** An object that throws whatever is done with it. */
const hostile = new Proxy({}, {
  get: () => {
    throw hostile
  },
  getPrototypeOf: () => {
    throw hostile
  },
  has: () => {
    throw hostile
  },
  ownKeys: () => {
    throw hostile
  }
})

type Then = (resolve: (value: unknown) => void, reject: (error: unknown) => void) => unknown

/** An object with a method `then` that is no promise. */
const withThen = (then: Then, name = "then"): object => ({ [name]: then })

const thenable: object = withThen((resolve) => resolve(thenable))

describe("a provider's result", () => {
  it("a throttled send whose retryAfter is missing is tried again after a second", async () => {
    const { wac } = await start({ provider: answering(async () => throttled) })
    const error = await failure(wac.messages.send(hello(), fresh()))
    assert.deepInclude(error, { code: "rate_limited", reason: "provider", retryAfter: 1000 })
    assert.strictEqual(error.message, `slow down (${error.requestId})`)
  })

  it("a retryAfter that is not a span of at most a day leaves the outcome unknown, and the log names the field", async () => {
    const wrong = [-5, Infinity, NaN, "2000", null, 2n, {}, 86_400_001, hostile]
    const { ends, log } = await outcomesOf(wrong.map((retryAfter) => async () => ({ ...throttled, retryAfter })))
    assert.deepStrictEqual(ends, wrong.map(() => unknown))
    const told = log.filter(({ level }) => level === "error")
    assert.strictEqual(told.length, wrong.length)
    for (const { error } of told.slice(0, -1)) assert.include(error, "retryAfter must be")
  })

  it("a field of another type, an unknown word or an unusable id leaves the outcome unknown", async () => {
    const wrong: ReadonlyArray<unknown> = [
      undefined,
      null,
      0,
      "accepted",
      [],
      {},
      cyclic,
      hostile,
      accepted.status,
      { ...accepted, status: "Accepted" },
      { ...accepted, status: { toString: () => "accepted" } },
      { status: "accepted" },
      ...[undefined, null, 7, 7n, Symbol("id"), {}, [], "", "a\u0000", "\ud800", "x".repeat(513)].map(
        (providerMessageId) => ({ ...accepted, providerMessageId })
      ),
      { ...refused, code: "not_found" },
      { ...refused, code: "server_error", reason: "internal" },
      { ...refused, code: "constructor" },
      { ...refused, reason: "provider" },
      { ...refused, reason: 1 },
      { ...refused, reason: undefined },
      { ...refused, message: undefined },
      { ...refused, message: {} },
      { ...refused, param: 1 },
      { ...refused, provider: "131026" },
      { ...refused, provider: { code: 131026, message: "no" } },
      { ...refused, provider: { code: "131026" } },
      { ...throttled, code: "forbidden" },
      { ...throttled, reason: "nobody" },
      { ...throttled, code: "server_error", reason: "storage" },
      {
        get status() {
          throw new Error("no status")
        }
      },
      {
        ...accepted,
        get providerMessageId() {
          throw hostile
        }
      }
    ]
    const { ends } = await outcomesOf(wrong.map((result) => async () => result))
    assert.deepStrictEqual(ends, wrong.map(() => unknown))
  })

  it("a send that throws, rejects or returns something other than a promise has an end", async () => {
    const given: ReadonlyArray<readonly [() => unknown, string]> = [
      [() => accepted, "sent"],
      [() => withThen((resolve) => resolve(accepted)), "sent"],
      [() => thenable, unknown],
      [async () => {
        throw new Error("broken")
      }, unknown],
      [() => {
        throw hostile
      }, unknown],
      [() => Promise.reject(hostile), unknown],
      [() => Promise.reject(undefined), unknown],
      [() => Promise.reject(cyclic), unknown],
      [() => new Promise(() => {}), unknown],
      [() => hostile, unknown],
      [() =>
        withThen(() => {
          throw new Error("no then")
        }), unknown],
      [() =>
        withThen(async () => {
          throw new Error("no then, later")
        }), unknown],
      [() =>
        withThen((resolve, reject) => {
          resolve(accepted)
          reject(new Error("twice"))
          resolve(refused)
        }), "sent"]
    ]
    const { ends } = await outcomesOf(given.map(([send]) => send))
    assert.deepStrictEqual(ends, given.map(([, end]) => end))
  })

  it("a refusal's texts are cut and cleaned for the storage", async () => {
    const { wac } = await start({
      provider: answering(async () => ({ ...refused, message: `\u0000${"x".repeat(5000)}` }))
    })
    const error = await failure(wac.messages.send(hello(), fresh()))
    assert.deepInclude(error, { code: "forbidden", reason: "provider_policy" })
    assert.strictEqual(error.message.length, 1024 + ` (${error.requestId})`.length)
    assert.isTrue(error.message.startsWith("\uFFFDx"))
  })

  it("whatever a provider returns or throws, each send has an end, and nothing stays unhandled", async () => {
    const unhandled: Array<unknown> = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on("unhandledRejection", note)
    try {
      const random = SeededRandom.make(7)
      const words = [
        "accepted",
        "refused",
        "not_sent",
        "unknown",
        "forbidden",
        "rate_limited",
        "provider",
        "server_error"
      ]
      const leaves = [
        undefined,
        null,
        true,
        0,
        -1,
        NaN,
        1e308,
        3n,
        Symbol("s"),
        "",
        "\u0000",
        hostile,
        cyclic,
        () => {}
      ]
      const any = (depth: number): unknown =>
        random.pick<() => unknown>([
          () => random.pick(leaves),
          () => random.pick(words),
          ...(depth === 0 ? [] : [
            () =>
              Object.fromEntries(
                ["status", "code", "reason", "message", "retryAfter", "providerMessageId", "param", "provider", "then"]
                  .flatMap((name) => random.pick([true, false]) ? [[name, any(depth - 1)]] : [])
              ),
            () => ({ ...random.pick<object>([accepted, refused, throttled]), retryAfter: any(depth - 1) }),
            () => [any(depth - 1)]
          ])
        ])()
      const sends = Array.from({ length: 200 }, () => {
        const value = any(2)
        return random.pick<() => unknown>([
          () => value,
          () => thenable,
          async () => value,
          () => Promise.reject(value),
          () => {
            throw value
          }
        ])
      })
      const { ends } = await outcomesOf(sends)
      const allowed = /^(sent|forbidden\/provider_policy|rate_limited\/provider|server_error\/outcome_unknown)$/
      for (const [i, end] of ends.entries()) assert.match(end, allowed, `send ${i}`)
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepStrictEqual(unhandled, [])
    } finally {
      process.off("unhandledRejection", note)
    }
  })
})

describe("a provider's templates", () => {
  it("a list that is not one of valid templates fails the sync with the place of the fault", async () => {
    const [template] = await templates({} as never)
    const wrong: ReadonlyArray<readonly [unknown, string]> = [
      [undefined, "an array"],
      [{}, "an array"],
      [[null], "[0]"],
      [[{ ...template, name: 7 }], "[0].name"],
      [[template, { ...template, name: "a\u0000" }], "[1].name"],
      [[{ ...template, category: undefined }], "[0].category"],
      [[{ ...template, parameterFormat: "word" }], "[0].parameterFormat"],
      [[{ ...template, components: "BODY" }], "[0].components"],
      [[{ ...template, components: [cyclic] }], "[0].components"],
      [[{ ...template, components: [1n] }], "[0].components"],
      [[hostile], ""]
    ]
    let listed: unknown = [template]
    const { wac } = await start({
      provider: { ...answering(async () => accepted), templates: async () => listed as never }
    })
    for (const [list, place] of wrong) {
      listed = list
      const error = await failure(wac.templates.sync())
      assert.deepInclude(error, { code: "server_error", reason: "provider_error" }, place)
      assert.include(error.message, place)
    }
  })
})

describe("a provider's other methods", () => {
  it("a name that no provider has is refused by name", async () => {
    const provider = answering(async () => accepted)
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ ...provider, markread: async () => {} }, "provider.markread"],
      [{ ...provider, Download: async () => null }, "provider.Download"],
      [{ ...provider, capabilites: {} }, "provider.capabilites"],
      [{ ...provider, markRead: true }, "provider.markRead"],
      [{ ...provider, download: {} }, "provider.download"],
      [{ ...provider, name: 7 }, "provider.name"],
      [{ ...provider, providerNumberId: "" }, "provider.providerNumberId"]
    ]
    for (const [given, param] of wrong) {
      const error = await failure(start({ provider: given as WacOptions["provider"] }))
      assert.deepInclude(error, { code: "invalid_body", param }, param)
    }
  })

  it("an object of a class may have other fields, but no misspelt method", async () => {
    class Gateway implements CustomProvider {
      readonly phoneNumber = "+15005550100"
      readonly templates = templates
      private readonly token = "t"
      private count = 0
      async send(): Promise<ProviderOutcome> {
        return { status: "accepted", providerMessageId: `${this.token}-${this.count++}` }
      }
    }
    const { wac } = await start({ provider: new Gateway() })
    assert.strictEqual((await wac.messages.send(hello(), fresh())).providerMessageId, "t-0")
    class Misspelt extends Gateway {
      async markread() {}
    }
    const error = await failure(start({ provider: new Misspelt() }))
    assert.deepInclude(error, { code: "invalid_body", param: "provider.markread" })
  })

  it("a file whose pieces are not bytes is refused", async () => {
    const files: ReadonlyArray<unknown> = [
      7,
      {},
      [1],
      ["text"],
      (async function*() {
        yield "text"
      })(),
      hostile
    ]
    for (const file of files) {
      const { clock, wac } = await start({
        inboundMedia: "on_demand",
        provider: { ...answering(async () => accepted), download: async () => file as never }
      })
      await wac.inbound.receive([{
        type: "message",
        providerNumberId: "+15005550100",
        providerMessageId: "in-1",
        from: "+15551234567",
        image: { id: "file-1", mime_type: "image/png" }
      }])
      const [event] = (await wac.events.list({ type: "message.received" }).page()).data
      const { media_id: mediaId } = event!.data["image" as never] as unknown as { readonly media_id: string }
      const opened = wac.media.open(mediaId)
      opened.catch(() => {})
      await clock.advance("1 minute")
      assert.strictEqual((await failure(opened)).code, "server_error")
    }
  })
})

describe("a provider with capabilities", () => {
  const texts: Array<string> = []
  const sms = () =>
    defineProvider({
      name: "sms",
      phoneNumber: "+15005550100",
      capabilities: {},
      send: async ({ messageId, text }) => {
        texts.push(text.body)
        return { status: "accepted", providerMessageId: `p-${messageId}` }
      }
    })
  const to = "+15551234567"
  const text = { to, type: "text", text: { body: "Hello" } } as const

  it("a channel without windows and templates sends a text to somebody who never wrote", async () => {
    const { wac } = await start({ provider: sms() })
    assert.strictEqual((await wac.messages.send(text, fresh())).status, "sent")
    assert.strictEqual(texts.at(-1), "Hello")
    await wac.templates.sync()
    assert.deepStrictEqual((await wac.templates.list().page()).data, [])
    const { status } = await wac.messages.enqueue(text, fresh())
    assert.strictEqual(status, "queued")
  })

  it("a message that the channel does not support is refused with its field and the capability, sent or queued", async () => {
    const { wac } = await start({ provider: sms() })
    const link = "https://example.com/a.png"
    const cases: ReadonlyArray<readonly [NewMessage, string, string]> = [
      [hello(), "type", "templates"],
      [{ to, type: "image", image: { link } }, "type", "media"],
      [{ to, type: "location", location: { latitude: 1, longitude: 2 } }, "type", "location"],
      [{ ...text, context: { message_id: "msg_01JD0000000000000000000000" } }, "context", "quotes"],
      [{ ...text, to: "US.13491208655302741918" }, "to", "userIds"]
    ]
    for (const [message, param, capability] of cases) {
      for (const call of [wac.messages.send(message, fresh()), wac.messages.enqueue(message, fresh())]) {
        const error = await failure(call)
        assert.deepInclude(error, { code: "invalid_body", reason: "invalid_field", param })
        assert.include(error.message, capability)
      }
    }
  })

  it("the API's description and the dashboard follow the channel", async () => {
    const { wac } = await start({ provider: sms(), dashboard: true })
    const get = async (path: string) => (await wac.handler(new Request(`http://localhost${path}`))).text()
    const { components, paths } = JSON.parse(await get("/openapi.json"))
    assert.notProperty(paths, "/v1/templates")
    assert.notProperty(components.schemas, "SendImage")
    assert.property(components.schemas, "SendText")
    assert.include(await get("/dashboard"), `<meta name="wac-lacks" content="serviceWindow templates media`)
    const { wac: whole } = await start({ dashboard: true })
    const page = await (await whole.handler(new Request("http://localhost/dashboard"))).text()
    assert.include(page, `<meta name="wac-lacks" content="mail accounts">`)
    assert.property(
      JSON.parse(await (await whole.handler(new Request("http://localhost/openapi.json"))).text()).paths,
      "/v1/templates"
    )
  })

  it("the tools for agents follow the channel", async () => {
    const toolsOf = async (provider: ReturnType<typeof sms> | undefined) => {
      const { wac } = await start(provider === undefined ? {} : { provider })
      const { apiKey } = await wac.keys.create({ name: "agent" })
      const response = await wac.handler(
        new Request("http://localhost/mcp", {
          method: "POST",
          headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })
        })
      )
      const { result }: { readonly result: { readonly tools: ReadonlyArray<{ readonly name: string }> } } =
        await response.json()
      return result.tools.map(({ name }) => name).filter((name) => /template|send/.test(name))
    }
    assert.deepStrictEqual(await toolsOf(sms()), ["send_message"])
    assert.deepStrictEqual(await toolsOf(undefined), ["send_template", "send_message", "list_templates"])
  })

  it("an opt-out holds on every channel", async () => {
    const { wac } = await start({ provider: sms() })
    await wac.inbound.receive([{
      type: "message",
      providerNumberId: "+15005550100",
      providerMessageId: "in-1",
      from: to,
      text: { body: "STOP" }
    }])
    assert.deepInclude(await failure(wac.messages.send(text, fresh())), { code: "forbidden", reason: "opted_out" })
  })

  it("without read marks a message is marked as read here, and typing is refused", async () => {
    const { wac } = await start({ provider: sms() })
    await wac.inbound.receive([{
      type: "message",
      providerNumberId: "+15005550100",
      providerMessageId: "in-1",
      from: to,
      text: { body: "Hi" }
    }])
    const [event] = (await wac.events.list({ type: "message.received" }).page()).data
    const { message_id: id } = event!.data as unknown as { readonly message_id: string }
    const error = await failure(wac.messages.markRead(id, { ...fresh(), typing: true }))
    assert.deepInclude(error, { code: "invalid_body", param: "typing" })
    await wac.messages.markRead(id, fresh())
  })

  it("a capability that does not exist, is not a boolean or lacks its method is refused by name", async () => {
    const base = { phoneNumber: "+15005550100", send: async () => accepted }
    const method = async () => {}
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ ...base, capabilities: { serviceWindows: true } }, "provider.capabilities.serviceWindows"],
      [{ ...base, capabilities: { media: "yes" } }, "provider.capabilities.media"],
      [{ ...base, capabilities: null }, "provider.capabilities"],
      [{ ...base, capabilities: { templates: true } }, "provider.templates"],
      [{ ...base, capabilities: { readMarks: true } }, "provider.markRead"],
      [{ ...base, capabilities: { media: true, uploads: true } }, "provider.upload"],
      [{ ...base, capabilities: { uploads: true }, upload: method }, "provider.capabilities.uploads"],
      [{ ...base, capabilities: {}, markRead: method }, "provider.capabilities.readMarks"],
      [{ ...base, capabilities: {}, templates: method }, "provider.capabilities.templates"],
      [{ ...base }, "provider.templates"]
    ]
    for (const [given, param] of wrong) {
      assert.throws(() => defineProvider(given as never))
      const error = await failure(start({ provider: given as WacOptions["provider"] }))
      assert.deepInclude(error, { code: "invalid_body", param }, param)
    }
  })

  it("a file is uploaded by the provider's own method, once, and its id is checked", async () => {
    const uploads: Array<string> = []
    let id: unknown = "up-1"
    const sent: Array<unknown> = []
    const { wac } = await start({
      provider: defineProvider({
        phoneNumber: "+15005550100",
        capabilities: { media: true, uploads: true },
        send: async (message) => {
          sent.push(message.mediaIds)
          return { status: "accepted", providerMessageId: `p-${sent.length}` }
        },
        upload: async ({ bytes, filename }) => {
          const pieces: Array<Uint8Array> = []
          for await (const piece of bytes) pieces.push(piece)
          uploads.push(`${filename} ${Buffer.concat(pieces).toString()}`)
          return { providerMediaId: id as string }
        }
      })
    })
    const file = async (text: string) =>
      (await wac.media.upload({ bytes: new TextEncoder().encode(text), filename: `${text}.txt` }, fresh())).id
    const one = await file("one")
    const send = (media: string) => wac.messages.send({ to, type: "document", document: { media } }, fresh())
    await send(one)
    await send(one)
    assert.deepStrictEqual(uploads, ["one.txt one"])
    assert.deepStrictEqual(sent, [{ [one]: "up-1" }, { [one]: "up-1" }])
    for (id of [undefined, 7, "", "x".repeat(513)]) {
      const error = await failure(send(await file(`bad ${String(id).length}`)))
      assert.deepInclude(error, { code: "server_error", reason: "provider_error" })
    }
    assert.strictEqual(sent.length, 2)
  })

  it("send gets only the kinds that the channel has, and a method needs its capability", () => {
    const { send } = {} as ProviderDefinition<{ readonly location: true }>
    expectTypeOf<Parameters<typeof send>[0]["type"]>().toEqualTypeOf<"text" | "location">()
    expectTypeOf<ProviderDefinition<Record<never, never>>["markRead"]>().toEqualTypeOf<undefined>()
    expectTypeOf<ProviderDefinition<{ readonly templates: true }>>().toHaveProperty("templates").toBeFunction()
  })
})
